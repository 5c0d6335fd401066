export interface SoakOptions {
  readonly redisPort: number
  readonly callers: number
  readonly perSecond: number
  /** How long new work comes; what then waits is done too. */
  readonly ms: number
  /** After which a caller goes on without Redis. Default 1,000. */
  readonly deadlineMs?: number
}

export interface SoakResult {
  readonly arrivals: number
  /** The most that arrived in any second. */
  readonly mostInASecond: number
  readonly bans: number
  readonly refused: number
  /** How late the API itself was at worst. */
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
  /** Of the rate, over the time in which there was work. */
  readonly share: number
}

export function soak(options: SoakOptions): Promise<SoakResult>
