export interface SoakOptions {
  readonly redisPort: number
  readonly callers: number
  readonly perSecond: number
  /** The most calls that the API allows in any second. Default `1.05 * perSecond`. */
  readonly allowed?: number
  /** For how long new calls come. Calls that still wait then are done too. */
  readonly ms: number
  /** A caller that has no answer of Redis after this long goes on without it. Default 1,000. */
  readonly deadlineMs?: number
}

export interface SoakResult {
  readonly arrivals: number
  /** The most arrivals in any second. */
  readonly mostInASecond: number
  readonly bans: number
  readonly refused: number
  /** The longest that the API itself was held up. */
  readonly heldUpMs: number
  readonly perSecond: number
  readonly calls: number
  readonly bursts: number
  /** How often a caller was told to come back. */
  readonly queueFull: number
  readonly failed: number
  /** Turns that were given without Redis. */
  readonly degraded: number
  readonly busyMs: number
  /** Arrivals as a share of the rate, over the time in which there was work. */
  readonly share: number
}

export function soak(options: SoakOptions): Promise<SoakResult>
