import { createHash } from 'node:crypto'
import { arithmeticOf, type Limit } from '../../limits/index.js'
import type { ReservationPlace } from './batch.js'

/** Names and keys of more UTF-16 units than this are kept by their hash. */
const LONGEST_KEPT = 128

/** How many parts the reservations of a cluster have. A process looks through all of them about once a second. */
const PARTS_IN_CLUSTER = 16

/** The states that this process has used under one name. */
interface NamedStates {
  /** How the Redis keys of these states begin. */
  readonly starts: Set<string>
  /** How the Redis key of a limit's state begins. */
  readonly startOf: WeakMap<Limit, string>
  /** How all of their Redis keys end. */
  readonly end: string
}

/**
 * Where a state lives in Redis: `sluice:t:{user:42}search` is the token bucket of the key `user:42` under the name
 * `search`, and `sluice:f1h:{user:42}search` is its fixed window of one hour. The text in the braces is the hash tag, so
 * all states of a key share a hash slot of a cluster.
 *
 * No two states share a Redis key. Braces and percent signs in a name or key are percent-encoded. The hash of a long one
 * begins with `%#`, which no escape does.
 */
export class KeyLayout {
  readonly #prefix: string
  readonly #names = new Map<string, NamedStates>()

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  /** The Redis key of a state. From now on, `seen` lists the state. */
  of(name: string, limit: Limit, key: string): string {
    const states = this.#statesOf(name)
    return (states.startOf.get(limit) ?? this.#see(states, limit)) + escaped(key) + states.end
  }

  /**
   * The Redis keys of every state of a name and key that this process knows of: both buckets, the block of an unlimited key,
   * and each other state that it has used under the name. Another process may use a window of another length, which is not
   * listed.
   */
  seen(name: string, key: string): readonly string[] {
    const { starts, end } = this.#statesOf(name)
    const tag = escaped(key)
    return Array.from(starts, (start) => start + tag + end)
  }

  /**
   * The Redis key that guards a state against requests for leases that arrive twice: `sluice:nt:{user:42}search}node` is that
   * of a node for the token bucket above. It is in the hash slot of the state.
   */
  ofGuard(name: string, limit: Limit, key: string, node: string): string {
    const { length } = this.#prefix
    return `${this.#prefix}n${this.of(name, limit, key).slice(length)}}${escaped(node)}`
  }

  /** The Redis keys of a policy's overrides, in the order that the script wants. */
  ofOverrides(policy: string): readonly string[] {
    const values = `${this.#prefix}o:{${escaped(policy)}}`
    return [values, `${values}versions`, `${values}ends`]
  }

  /**
   * Where the reservation of an id is kept. In a cluster, reservations are spread over `PARTS_IN_CLUSTER` hash slots: a part
   * has a sorted set of its own. The member of the set tells the id, or the hash of a long one.
   */
  ofReservation(id: string, isCluster: boolean): ReservationPlace {
    const member = escaped(id)
    return this.ofMember(member, isCluster ? hashSlotOf(member) % PARTS_IN_CLUSTER : 0)
  }

  /** Where the reservation of a member of `ends` is kept. */
  ofMember(member: string, part: number): ReservationPlace {
    const ends = this.#endsOf(part)
    return { record: `${ends}:${member}`, ends, member }
  }

  /** The sorted sets of all reservations, one for each part. */
  ofEnds(isCluster: boolean): readonly string[] {
    return Array.from({ length: isCluster ? PARTS_IN_CLUSTER : 1 }, (_, part) => this.#endsOf(part))
  }

  #endsOf(part: number): string {
    return `${this.#prefix}r:{reservations-${part}}`
  }

  #statesOf(name: string): NamedStates {
    let states = this.#names.get(name)
    if (states === undefined) {
      const starts = new Set(['t', 'l', 'u'].map((code) => `${this.#prefix}${code}:{`))
      states = { starts, startOf: new WeakMap(), end: `}${escaped(name)}` }
      this.#names.set(name, states)
    }
    return states
  }

  #see(states: NamedStates, limit: Limit): string {
    const start = `${this.#prefix}${codeOf(arithmeticOf(limit).limit)}:{`
    states.starts.add(start)
    states.startOf.set(limit, start)
    return start
  }
}

/** Tells the states of one name and key apart, as `Arithmetic.stateId` does: `'t'`, `'f1h'`, `'f1h+'`, `'s1m/10'`. */
function codeOf(limit: Limit): string {
  switch (limit.algorithm) {
    case 'token-bucket':
      return 't'
    case 'leaky-bucket':
      return 'l'
    case 'fixed-window':
      return `f${limit.window}${limit.align === 'first' ? '+' : ''}`
    case 'sliding-window':
      return `s${limit.window}/${limit.slices ?? 1}${limit.align === 'first' ? '+' : ''}`
    case 'sliding-log':
      return `g${limit.window}`
    case 'concurrency':
      return 'c'
    case 'unlimited':
      return 'u'
  }
}

function escaped(raw: string): string {
  // Strings that become the same bytes must become the same text.
  const text = raw.toWellFormed()
  if (text.length > LONGEST_KEPT) return `%#${createHash('sha256').update(text).digest('base64url')}`
  return /[%{}]/.test(text) ? text.replace(/[%{}]/g, encodeURIComponent) : text
}

/** A Redis Cluster has this many hash slots. A key's hash slot is the CRC-16 (XMODEM) of its hash tag. */
const HASH_SLOTS = 16_384

const CRC_OF_BYTE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
  return crc
})

const encoder = new TextEncoder()

/** The hash slot of a Redis key: of its hash tag, or of all of it if it has none. */
export function hashSlotOf(redisKey: string): number {
  const tag = /\{([^}]+)\}/.exec(redisKey)?.[1] ?? redisKey
  let crc = 0
  for (const byte of encoder.encode(tag)) crc = ((crc << 8) & 0xffff) ^ CRC_OF_BYTE[(crc >> 8) ^ byte]
  return crc % HASH_SLOTS
}
