// Imported, so that a test that replaces the global timers does not stop decisions.
import { setImmediate } from 'node:timers'
import { Deadline } from './deadline.js'

// Held for the same reason.
const { nextTick } = process
const settled = Promise.resolve()

/** Calls that were made in one turn of the event loop and share a deadline. */
export interface Turn<Call> {
  readonly calls: Call[]
  /** How many calls have no answer yet. */
  open: number
  /** Set when the turn ends, and cancelled when no call is open. */
  deadline: Deadline | undefined
}

/** What the turns know of a call. */
interface TurnCall {
  readonly turn: Turn<unknown>
  isAnswered: boolean
  /** The batch or request that it was sent in. `open` counts the calls in it that have no answer yet. */
  sent: { open: number } | undefined
}

/** What a link does with its turns. */
interface TurnsOptions<Call> {
  readonly deadlineMs: number
  /** The turn has ended: send what waits. */
  readonly ended: () => void
  /** The deadline of a turn is over. */
  readonly expired: (turn: Turn<Call>) => void
}

/** Collects the calls of one turn of the event loop, so that they leave together and have one deadline. Counts calls. */
export class Turns<Call extends TurnCall> {
  /** Calls without an answer. */
  pending = 0
  /** Batches or requests that were sent, and whose calls are not all answered. */
  inFlight = 0
  readonly #options: TurnsOptions<Call>
  #filling: Turn<Call> | undefined
  #refusals: (() => void)[] = []

  constructor(options: TurnsOptions<Call>) {
    this.#options = options
  }

  /** Counts a call that is made now, and returns its turn. Add the call to it. */
  join(): Turn<Call> {
    this.#filling ??= this.#begin()
    this.#filling.open++
    this.pending++
    return this.#filling
  }

  /** Counts a call as answered; returns false if it was answered before. */
  ends(call: Call): boolean {
    if (call.isAnswered) return false
    call.isAnswered = true
    this.pending--
    const { turn, sent } = call
    if (--turn.open === 0) turn.deadline?.cancel()
    // A batch whose calls are all answered makes room for the next, even if its reply never comes.
    if (sent !== undefined && --sent.open === 0) this.inFlight--
    return true
  }

  /** Runs `refuse` soon. Not at once: a caller that asks again and again would never let the event loop see that the server is back. */
  refuse(refuse: () => void): void {
    this.#refusals.push(refuse)
    if (this.#refusals.length > 1) return
    setImmediate(() => {
      const refusals = this.#refusals
      this.#refusals = []
      for (const each of refusals) each()
    })
  }

  /** While the server is at work, a turn lasts until this round of the event loop ends; otherwise until this task ends. */
  #begin(): Turn<Call> {
    if (this.inFlight > 0) setImmediate(this.#end)
    // Cheaper than queueMicrotask, which makes an AsyncResource.
    else void settled.then(this.#endAfterTask)
    return { calls: [], open: 0, deadline: undefined }
  }

  /** A tick that is asked for by a microtask runs after all microtasks of the task. */
  readonly #endAfterTask = () => nextTick(this.#end)

  readonly #end = () => {
    // The deadline begins here: until now this process was busy, not the server.
    const turn = this.#filling
    if (turn !== undefined) turn.deadline = new Deadline(this.#options.deadlineMs, () => this.#options.expired(turn))
    this.#filling = undefined
    this.#options.ended()
  }
}
