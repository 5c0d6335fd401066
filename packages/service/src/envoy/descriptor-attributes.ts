import { GRPC_STATUS, GrpcError } from '../grpc/grpc-error.js'
import type { DescriptorEntry } from './rate-limit-request.js'

/** The attributes of a request, by name. */
export type DescriptorAttributes = Readonly<Record<string, string>>

/** An object without inherited members: clients may choose the keys. `Object.create(null)` would be one of the slow kind. */
class Attributes {
  readonly [name: string]: string
}
Object.setPrototypeOf(Attributes.prototype, null)
Reflect.deleteProperty(Attributes.prototype, 'constructor')

/** The key that Envoy's action `remote_address` writes. A policy knows the address of a client as `ip`. */
const REMOTE_ADDRESS = 'remote_address'

/**
 * The attributes that a descriptor says: each entry is one, `domain` is that of the request, and `ip` is the entry `remote_address`
 * unless there is an entry `ip`. Throws INVALID_ARGUMENT if a key has two values: one of them would be lost, and a limit with it.
 */
export function descriptorAttributes(domain: string, entries: readonly DescriptorEntry[]): DescriptorAttributes {
  const attributes: Record<string, string> = new Attributes()
  for (let i = 0; i < entries.length; i++) {
    const { key, value } = entries[i]
    const before = attributes[key]
    if (before !== undefined && before !== value) throw repeatedKey(key)
    attributes[key] = value
  }
  attributes.domain ??= domain
  const address = attributes[REMOTE_ADDRESS]
  if (address !== undefined) attributes.ip ??= address
  return attributes
}

function repeatedKey(key: string): GrpcError {
  return new GrpcError(
    GRPC_STATUS.invalidArgument,
    `a descriptor has the key '${key.slice(0, 100)}' twice with different values: each key is one attribute of the policy, so ` +
      'give the entries different keys, such as descriptor_key: path',
  )
}
