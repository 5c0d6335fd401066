import { warn } from '../errors.js'

/** So many limiters in a row are no accident. */
const MOST_SUSPECTS = 10

/** Taken now, because tests replace it by a function that waits for their own clock. */
const { setImmediate: nextTurn } = globalThis as {
  setImmediate?: (run: () => void) => { unref?: () => void }
}

/** Changes from one turn of the event loop to the next, whenever a limiter was made in it. */
let turn = 0
let isTurnCounted = false
let hasWarned = false
/** The latest limiters that were used in the turn in which they were made, each in another turn, and not since. */
let suspects: FirstUse[] = []

/**
 * Notices limiters that are made inside a handler. Such a limiter keeps its states in a memory store of its own, starts anew
 * with every request, and so limits nothing. The sign: ten limiters in a row are made in ten turns of the event loop, each
 * is used in its own turn and never again, and the process listens on a port. Then a process warning says so, once.
 *
 * Limiters that an application keeps, such as one for each tenant in a map, are used again in later turns. Tests of a
 * limiter listen on no port.
 */
export class FirstUse {
  readonly #turn = currentTurn()
  #isSuspect = false

  /** To be called at every use of the limiter. Returns `undefined` when there is nothing left to notice. */
  again(): FirstUse | undefined {
    if (hasWarned || this.#turn !== turn) {
      if (this.#isSuspect) suspects = []
      return undefined
    }
    if (!this.#isSuspect) this.#suspect()
    return this
  }

  #suspect(): void {
    this.#isSuspect = true
    suspects = [...suspects.filter((each) => each.#turn !== this.#turn), this]
    if (suspects.length < MOST_SUSPECTS) return
    suspects = []
    if (!isListening()) return
    hasWarned = true
    warn(
      `${MOST_SUSPECTS} limiters in a row were made, used at once and never again: a limiter that is made inside a handler ` +
        'starts anew with every request and limits nothing. Call createLimiter or rateLimit once, outside of the handler. If ' +
        'clients have different limits, give rateLimit a function as its limit',
      'SLUICE_MADE_IN_HANDLER',
    )
  }
}

function currentTurn(): number {
  if (isTurnCounted || hasWarned || nextTurn === undefined) return turn
  isTurnCounted = true
  try {
    const immediate = nextTurn(() => {
      isTurnCounted = false
      turn++
    })
    immediate.unref?.()
  } catch {
    // Some platforms allow no timers while a program starts. Then nothing is noticed.
  }
  return turn
}

/** Whether this process listens on a port, as far as the platform tells. */
function isListening(): boolean {
  const { process } = globalThis as { process?: { getActiveResourcesInfo?: () => readonly string[] } }
  return process?.getActiveResourcesInfo?.().includes('TCPServerWrap') === true
}
