import type { Bounds } from './bounds.js'

/** What a connection that has waited too long is due for. */
export type Due = 'cut' | 'slow-block' | 'leave' | undefined

/** What the patience with a connection depends on. */
export interface ConnectionState {
  /** Calls that are open, and when the last one began. */
  readonly calls: number
  readonly lastCallMs: number
  /** Bytes that the client has not taken, and all that it has taken. */
  readonly queuedBytes: number
  readonly takenBytes: number
}

/** How long a connection may wait, and for what. It takes the time as an argument. */
export class Patience {
  readonly #bounds: Bounds
  /** When the connection began, or when it had a call last. */
  #idleSinceMs: number
  #hasGreeted = false
  /** When the frame or header block that is not complete began. */
  #blockSinceMs: number | undefined
  /** Since when the client has taken nothing of what is queued for it. */
  #stalledSinceMs: number | undefined
  #takenBytes = 0
  #endedMs: number | undefined

  constructor(bounds: Bounds, nowMs: number) {
    this.#bounds = bounds
    this.#idleSinceMs = nowMs
  }

  /** The client has sent its first SETTINGS. */
  greeted(): void {
    this.#hasGreeted = true
  }

  /** A read has ended inside a frame or header block, or not. */
  read(isInsideBlock: boolean, nowMs: number): void {
    if (!isInsideBlock) this.#blockSinceMs = undefined
    else this.#blockSinceMs ??= nowMs
  }

  /** The connection was ended from this side, and waits for the client to read why. */
  ended(nowMs: number): void {
    this.#endedMs = nowMs
  }

  due(nowMs: number, state: ConnectionState): Due {
    const { lingerMs, helloMs, stalledMs, blockMs, idleMs } = this.#bounds
    const isOver = (sinceMs: number | undefined, mostMs: number) => sinceMs !== undefined && nowMs - sinceMs >= mostMs
    this.#watchQueue(nowMs, state)
    this.#idleSinceMs = state.calls > 0 ? nowMs : Math.max(this.#idleSinceMs, state.lastCallMs)
    if (this.#endedMs !== undefined) return isOver(this.#endedMs, lingerMs) ? 'cut' : undefined
    if (!this.#hasGreeted) return isOver(this.#idleSinceMs, helloMs) ? 'cut' : undefined
    if (isOver(this.#stalledSinceMs, stalledMs)) return 'cut'
    if (isOver(this.#blockSinceMs, blockMs)) return 'slow-block'
    return isOver(this.#idleSinceMs, idleMs) ? 'leave' : undefined
  }

  #watchQueue(nowMs: number, { queuedBytes, takenBytes }: ConnectionState): void {
    const hasMoved = takenBytes !== this.#takenBytes
    this.#takenBytes = takenBytes
    if (queuedBytes === 0 || hasMoved) this.#stalledSinceMs = undefined
    else this.#stalledSinceMs ??= nowMs
  }
}
