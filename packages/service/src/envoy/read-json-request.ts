import { badRequest, shown } from '../server/problem.js'
import { MOST_DESCRIPTORS, tooManyDescriptors } from './check-rate-limit-request.js'
import {
  type DescriptorEntry,
  type RateLimitDescriptor,
  type RateLimitOverride,
  type RateLimitRequest,
  type RateLimitUnit,
  UNITS,
} from './rate-limit-request.js'

const MOST_UINT32 = 2 ** 32 - 1
const MOST_UINT64 = Number.MAX_SAFE_INTEGER

/**
 * Reads a `RateLimitRequest` from the JSON form of proto3: names in camel case or as in the file of the protocol, numbers also as texts,
 * `null` for a field that is absent. Throws a `Problem` that names the wrong field.
 */
export function readJsonRequest(body: object): RateLimitRequest {
  const fields = new JsonFields('the request', body, ['domain', 'descriptors', 'hitsAddend'])
  const descriptors = fields.list('descriptors')
  if (descriptors.length > MOST_DESCRIPTORS) throw badRequest(tooManyDescriptors().message)
  return {
    domain: fields.text('domain'),
    descriptors: descriptors.map((each, i) => readDescriptor(`descriptors[${i}]`, each)),
    hitsAddend: fields.whole('hitsAddend', MOST_UINT32) ?? 0,
  }
}

function readDescriptor(at: string, value: unknown): RateLimitDescriptor {
  const fields = new JsonFields(at, value, ['entries', 'limit', 'hitsAddend', 'isNegativeHits'])
  return {
    entries: fields.list('entries').map((each, i) => readEntry(`${at}.entries[${i}]`, each)),
    limit: fields.has('limit') ? readOverride(`${at}.limit`, fields.value('limit')) : undefined,
    hitsAddend: fields.whole('hitsAddend', MOST_UINT64),
    isNegativeHits: fields.bool('isNegativeHits'),
  }
}

function readEntry(at: string, value: unknown): DescriptorEntry {
  const fields = new JsonFields(at, value, ['key', 'value'])
  return { key: fields.text('key'), value: fields.text('value') }
}

function readOverride(at: string, value: unknown): RateLimitOverride {
  const fields = new JsonFields(at, value, ['requestsPerUnit', 'unit'])
  return {
    requestsPerUnit: fields.whole('requestsPerUnit', MOST_UINT32) ?? 0,
    unit: readUnit(at, fields.value('unit')),
  }
}

/** A unit by its name, `MINUTE`, or by its number. A number that is none counts as 0, as over gRPC. */
function readUnit(at: string, value: unknown): RateLimitUnit {
  if (value === undefined) return UNITS.unknown
  if (typeof value === 'number' && Number.isInteger(value))
    return Object.values(UNITS).find((each) => each === value) ?? UNITS.unknown
  const name = typeof value === 'string' ? value.toLowerCase() : ''
  if (Object.hasOwn(UNITS, name) && name.toUpperCase() === value) return UNITS[name as keyof typeof UNITS]
  throw badRequest(`${at}.unit must be one of ${Object.keys(UNITS).join(', ').toUpperCase()}, got ${shown(value)}`)
}

/** The fields of one message. */
class JsonFields {
  readonly #at: string
  readonly #values = new Map<string, unknown>()

  /** `known`: their names in camel case. */
  constructor(at: string, value: unknown, known: readonly string[]) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw badRequest(`${at} must be an object with ${known.join(', ')}, got ${shown(value)}`)
    this.#at = at
    for (const [given, each] of Object.entries(value)) {
      const name = known.find((one) => one === given || snakeCase(one) === given)
      if (name === undefined) throw badRequest(`${at} has no field ${shown(given)}; it has ${known.join(', ')}`)
      if (each !== null) this.#values.set(name, each)
    }
  }

  has(name: string): boolean {
    return this.#values.has(name)
  }

  value(name: string): unknown {
    return this.#values.get(name)
  }

  text(name: string): string {
    return this.#read(name, 'a text', (value) => (typeof value === 'string' ? value : undefined)) ?? ''
  }

  bool(name: string): boolean {
    return this.#read(name, 'true or false', (value) => (typeof value === 'boolean' ? value : undefined)) ?? false
  }

  list(name: string): readonly unknown[] {
    return this.#read(name, 'a list', (value) => (Array.isArray(value) ? value : undefined)) ?? []
  }

  whole(name: string, most: number): number | undefined {
    return this.#read(name, `a whole number from 0 to ${most}`, (value) => {
      const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value
      return Number.isSafeInteger(number) && (number as number) >= 0 && (number as number) <= most
        ? (number as number)
        : undefined
    })
  }

  #read<T>(name: string, wanted: string, read: (value: unknown) => T | undefined): T | undefined {
    if (!this.has(name)) return undefined
    const value = this.value(name)
    const found = read(value)
    if (found === undefined) throw badRequest(`${name} of ${this.#at} must be ${wanted}, got ${shown(value)}`)
    return found
  }
}

/** `hitsAddend` is `hits_addend` in the file of the protocol. */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
