/** The messages of `envoy.service.ratelimit.v3`, as the doors read and write them. Names are those of the protocol. */

export interface RateLimitRequest {
  readonly domain: string
  readonly descriptors: readonly RateLimitDescriptor[]
  /** 0 means 1. */
  readonly hitsAddend: number
}

export interface RateLimitDescriptor {
  readonly entries: readonly DescriptorEntry[]
  /** Numbers that replace those of the rule. */
  readonly limit?: RateLimitOverride | undefined
  /** Replaces `hitsAddend` of the request. 0 takes nothing and only looks. */
  readonly hitsAddend?: number | undefined
  /** The hits are given back. */
  readonly isNegativeHits: boolean
}

export interface DescriptorEntry {
  readonly key: string
  readonly value: string
}

export interface RateLimitOverride {
  readonly requestsPerUnit: number
  readonly unit: RateLimitUnit
}

/** Numbers of the enum `RateLimit.Unit`. A number that is not among them may come over the wire: it counts as 0. */
export const UNITS = { unknown: 0, second: 1, minute: 2, hour: 3, day: 4, month: 5, year: 6, week: 7 } as const

export type RateLimitUnit = (typeof UNITS)[keyof typeof UNITS]

/** The largest number of the protocol; what is left of a rule without a limit. */
export const LARGEST_NUMBER = 2 ** 32 - 1

/** Numbers of the enum `Code`. */
export const CODES = { unknown: 0, ok: 1, overLimit: 2 } as const

export type RateLimitCode = (typeof CODES)[keyof typeof CODES]

export interface RateLimitResponse {
  readonly overallCode: RateLimitCode
  /** One for each descriptor, in the order of the request. */
  readonly statuses: readonly DescriptorStatus[]
  readonly responseHeaders: readonly HeaderValue[]
  readonly requestHeaders: readonly HeaderValue[]
  readonly rawBody?: Uint8Array | undefined
  /** `dynamic_metadata`: plain JSON. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

export interface DescriptorStatus {
  readonly code: RateLimitCode
  readonly currentLimit?:
    | { readonly requestsPerUnit: number; readonly unit: RateLimitUnit; readonly name: string }
    | undefined
  readonly limitRemaining: number
  readonly untilResetMs?: number | undefined
}

export interface HeaderValue {
  readonly key: string
  readonly value: string
}

/** Decides calls of `ShouldRateLimit`: by native policies, or by the rules of `--envoy-config`. */
export interface EnvoyDecider {
  /** Throws a `GrpcError`, or rejects with one, if the request cannot be decided. */
  shouldRateLimit(request: RateLimitRequest): RateLimitResponse | Promise<RateLimitResponse>
}
