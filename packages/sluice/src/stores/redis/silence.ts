import type { Connection, ScriptRunner } from './clients/script-runner.js'
import type { Failures } from './failures.js'

/** A connection on which calls wait and nothing arrives for this long, or up to a quarter longer, is replaced. */
const PATIENCE_MS = 1_200
/** A single look proves nothing: this process may have been busy. */
const LOOKS = 3

/** A connection as it was at the first look that found nothing new. */
interface Watch {
  readonly sinceMs: number
  readonly bytesRead: number
  readonly patienceMs: number
  lookedMs: number
  looks: number
}

/**
 * Notices that a connection has gone silent, and makes the client replace it. Clients do not notice it themselves: a
 * connection to a server that is frozen, or that vanished without closing it, stays open for many minutes.
 *
 * It looks only when a probe has failed, so a connection that works costs nothing.
 */
export class Silence {
  readonly #runner: ScriptRunner
  readonly #leastMs: number
  readonly #failures: Failures
  readonly #watches = new WeakMap<object, Watch>()

  constructor(runner: ScriptRunner, deadlineMs: number, failures: Failures) {
    this.#runner = runner
    // If calls may take longer, silence may last longer too.
    this.#leastMs = Math.max(PATIENCE_MS, 2 * deadlineMs)
    this.#failures = failures
  }

  /**
   * A probe for `key` failed: it was refused, or has no answer yet. Returns whether a silent connection could be replaced;
   * if not, a probe without an answer may lie in the client's queue for ever.
   */
  probeFailed(key: string, isRefused: boolean): boolean {
    const connections = this.#connections(key)
    // A ready client that refuses a call hands on an answer of Redis: the connection is not silent.
    for (const each of connections) if (!(isRefused && each.isReady) && this.#isSilent(each)) this.#drop(each)
    return connections.length > 0
  }

  /** Redis has answered a call for `key`, in time or not. */
  heard(key: string): void {
    for (const { id } of this.#connections(key)) this.#watches.delete(id)
  }

  #connections(key: string): readonly Connection[] {
    try {
      return this.#runner.connections?.(key) ?? []
    } catch {
      // The client only looked like one that shows its connections.
      return []
    }
  }

  #isSilent({ id, bytesRead }: Connection): boolean {
    const nowMs = performance.now()
    const watch = this.#watches.get(id)
    // A watch that was last looked at long ago belongs to an outage that is over.
    const isNew = watch === undefined || watch.bytesRead !== bytesRead || nowMs - watch.lookedMs > 2 * this.#leastMs
    if (isNew) {
      // Varied, so that a fleet does not reconnect in step.
      const patienceMs = this.#leastMs * (1 + Math.random() / 4)
      this.#watches.set(id, { sinceMs: nowMs, bytesRead, patienceMs, lookedMs: nowMs, looks: 1 })
      return false
    }
    watch.lookedMs = nowMs
    watch.looks++
    return watch.looks >= LOOKS && nowMs - watch.sinceMs >= watch.patienceMs
  }

  #drop({ id, drop }: Connection): void {
    this.#watches.delete(id)
    this.#failures.reconnect()
    try {
      drop()
    } catch {}
  }
}
