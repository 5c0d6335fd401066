import { channel } from 'node:diagnostics_channel'
import { warn } from '../../errors.js'

/** So many stores in a row are no accident. */
const MOST_SUSPECTS = 10

/** Taken now, because tests replace it by a function that waits for their own clock. */
const { setImmediate: nextTurn } = globalThis as {
  setImmediate?: (run: () => void) => { unref?: () => void }
}

/** Changes from one turn of the event loop to the next, as long as `currentTurn` is called in each. */
let turn = 0
let isTurnCounted = false
let hasWarned = false
/** The latest stores that were made while the process serves and used in one turn, each made in another turn. */
let suspects: FirstUse[] = []

/**
 * Notices limiters and policies that are made inside a handler. Their memory store starts anew with every request, and so
 * limits nothing. The sign: ten memory stores in a row are made in ten turns of the event loop while the process serves, and
 * all decisions of each lie in one turn. Then a process warning says so, once.
 *
 * An application may make a limiter late and keep it, such as one for each tenant. A kept limiter decides again in a later
 * turn, and then the row begins anew. Only if ten tenants come for the first time before one of them comes again, the warning
 * is wrong. Tests without a server never warn.
 */
export class FirstUse {
  readonly #madeIn = currentTurn()
  #usedIn: number | undefined

  /** For a new memory store. `undefined` if the process does not serve, so that there is nothing to notice. */
  static ofNew(): FirstUse | undefined {
    return hasWarned || !isServing() ? undefined : new FirstUse()
  }

  /** To be called at every decision of the store. Returns `undefined` when there is nothing left to notice. */
  again(): FirstUse | undefined {
    if (hasWarned) return undefined
    const now = currentTurn()
    if (this.#usedIn === undefined) this.#suspect(now)
    if (this.#usedIn === now) return this
    suspects = []
    return undefined
  }

  #suspect(now: number): void {
    this.#usedIn = now
    suspects = [...suspects.filter((each) => each.#madeIn !== this.#madeIn), this]
    if (suspects.length < MOST_SUSPECTS) return
    suspects = []
    hasWarned = true
    warn(
      `${MOST_SUSPECTS} limiters in a row were made while this process serves, used once and never again: a limiter that is ` +
        'made inside a handler starts anew with every request and limits nothing. Call createLimiter, createPolicy, ' +
        'memoryStore or rateLimit once, outside of the handler. If clients have different limits, give rateLimit a function ' +
        'as its limit',
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

/** Node.js publishes every HTTP/1 request here, with its server, also in a cluster worker and on a Unix socket. */
const requests = channel('http.server.request.start')
let isSubscribed = false
/** The server of the latest request that was waited for. */
let server: WeakRef<{ readonly listening?: boolean }> | undefined

/** Whether this process serves: it listens on a port, or has got a request from a server that still listens. */
function isServing(): boolean {
  if (server?.deref()?.listening === true) return true
  if (!isSubscribed && nextTurn !== undefined) {
    isSubscribed = true
    requests.subscribe(noteServer)
  }
  const { process } = globalThis as { process?: { getActiveResourcesInfo?: () => readonly string[] } }
  return process?.getActiveResourcesInfo?.().includes('TCPServerWrap') === true
}

function noteServer(message: unknown): void {
  const { server: from } = message as { readonly server?: object }
  if (from !== undefined) server = new WeakRef(from)
  // Later, because Node.js 20 does not expect a subscriber to leave while it publishes.
  nextTurn?.(unsubscribe)
}

function unsubscribe(): void {
  if (isSubscribed) requests.unsubscribe(noteServer)
  isSubscribed = false
}
