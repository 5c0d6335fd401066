/**
 * What the service tells its page, as plain data: the events of `GET /v1/live`. The page compiles against this file, so it
 * imports types of the library only.
 */
import type { Limit } from 'sluice/limits'

/** One level of the policy in force. Frames list their counts in the order of these. */
export interface LiveLevel {
  readonly name: string
  readonly limits: readonly Limit[]
  readonly shadow?: true
}

/** The levels of the policy in force. A reload makes another list. */
export interface LiveLevels {
  /** Counts reloads: frames name the list that their counts belong to. */
  readonly version: number
  readonly policy: string
  readonly levels: readonly LiveLevel[]
}

/** How many counts a frame has for each level: admitted, denied, denied in shadow, degraded. */
export const COUNTS_OF_A_LEVEL = 4

/** What the service decided in one span of time: about a second, or about ten in the older part of a history. */
export interface LiveFrame {
  /** When the span ended, in epoch milliseconds. */
  readonly atMs: number
  readonly elapsedMs: number
  readonly allowed: number
  readonly denied: number
  readonly errors: number
  /** How many of the allowed and denied were decided without the store. */
  readonly degraded: number
  /** How long the store took. 0 without decisions. */
  readonly p50Ms: number
  readonly p99Ms: number
  /** The longest delay of the event loop. */
  readonly worstDelayMs: number
  /** How many workers have reported: 1 without `--workers`. */
  readonly workers: number
  /** The `version` of the list of levels. */
  readonly version: number
  /** Four counts for each level, one level after the other: see `COUNTS_OF_A_LEVEL`. */
  readonly levels: readonly number[]
}

/** The service as a person is told. */
export interface LiveService {
  readonly version: string
  readonly host: string
  readonly pid: number
  readonly startedMs: number
  readonly workers: number
  /** `memory`, or the address of Redis without its password. */
  readonly store: string
  /** True if the policy is the example and not a file of the operator's. */
  readonly isExample: boolean
  /** Is the admin API on? */
  readonly hasAdmin: boolean
  /** Did this request have the admin token? Otherwise keys are masked. */
  readonly isAdmin: boolean
  /** The names of the attributes that the policy asks about. */
  readonly attributes: readonly string[]
}

/** The demo's traffic. Absent from a service that has a policy of the operator's. */
export interface LiveDemo {
  readonly isRunning: boolean
}

/** Whether the policy file that was read last is in force. */
export interface LivePolicy {
  /** Why the file cannot be used: so many problems, 200 of them at most. Then the policy before it stays in force. 0: it is in force. */
  readonly problems: number
}

/** The first event of a stream. */
export interface LiveHello {
  readonly service: LiveService
  readonly levels: LiveLevels
  readonly policy: LivePolicy
  readonly demo?: LiveDemo
  /** The last five minutes, a frame a second, the oldest first. */
  readonly seconds: readonly LiveFrame[]
  /** The last hour, a frame every ten seconds, the oldest first. */
  readonly tens: readonly LiveFrame[]
}

/** One key in a list of top keys. */
export interface LiveKey {
  readonly level: string
  /** The key, or a mask such as `•••• 3f9a1c` that is the same for the same key. `*` if the level has none. */
  readonly key: string
  /** Too large by at most `error`. */
  readonly count: number
  readonly error: number
}

/** Sent every two seconds. Counts cover one to two minutes. */
export interface LiveTopKeys {
  readonly sinceMs: number
  readonly byLoad: readonly LiveKey[]
  readonly byDenials: readonly LiveKey[]
}

/** A request that was decided a moment ago. Requests are sampled: at most a few a second are kept. */
export interface LiveRequest {
  /** For `POST /v1/inspect`. */
  readonly id: string
  readonly atMs: number
  readonly allowed: boolean
  /** The levels that denied it. */
  readonly deniedBy: readonly string[]
  readonly degraded: boolean
  readonly cost: number
  /** The attributes that the policy asks about. Values other than `method` and `path` are masked without the admin token. */
  readonly attributes: Readonly<Record<string, string>>
}

/** A number of the store for a person: its name, its value and its unit. */
export interface LiveStoreFigure {
  readonly name: string
  readonly value: number
  readonly unit: '' | 'bytes' | '/s' | 'units'
}

/** How the store and its leases are. Sent once a second. Figures of several workers are added up. */
export interface LiveStore {
  readonly kind: 'memory' | 'redis' | 'other'
  /** `degraded`: the store does not answer, and decisions are made by the `onFailure` rule. */
  readonly state: 'well' | 'degraded'
  /** A sentence about the state. */
  readonly text: string
  readonly figures: readonly LiveStoreFigure[]
  readonly leases?: readonly LiveStoreFigure[]
}

/** The events of the stream by name. */
export interface LiveEvents {
  readonly hello: LiveHello
  readonly frame: LiveFrame
  /** After a reload, before the first frame of the new version. */
  readonly levels: LiveLevels
  /** The policy file was read again. Sent at once. */
  readonly policy: LivePolicy
  readonly store: LiveStore
  readonly keys: LiveTopKeys
  readonly requests: readonly LiveRequest[]
  readonly demo: LiveDemo
  /** The service shuts down. */
  readonly end: { readonly reason: string }
}
