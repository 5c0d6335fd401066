/** Frames of calls, built before. */
export type EnvoyCalls = object

export interface DoorConnection {
  close(): void
}

/** Rejects if an answer is not OK, or is not there. Latencies are in milliseconds, sorted. */
export function loadAtRate(
  opened: readonly DoorConnection[],
  perSecond: number,
  ms: number,
  nowMs?: () => number,
): Promise<{ readonly latencies: Float64Array; readonly perSecond: number }>
