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
  /** Set when the turn ends. Cancel it when no call is open. */
  deadline: Deadline | undefined
}

/** What a link does with its turns. */
interface TurnsOptions<Call> {
  readonly deadlineMs: number
  /** Is the server at work on earlier calls? */
  readonly isBusy: () => boolean
  /** The turn has ended: send what waits. */
  readonly ended: () => void
  /** The deadline of a turn is over. */
  readonly expired: (turn: Turn<Call>) => void
}

/** Collects the calls of one turn of the event loop, so that they leave together and have one deadline. */
export class Turns<Call> {
  readonly #options: TurnsOptions<Call>
  #filling: Turn<Call> | undefined
  #refusals: (() => void)[] = []

  constructor(options: TurnsOptions<Call>) {
    this.#options = options
  }

  /** The turn that is being filled. Add the call to it and count it as open. */
  get filling(): Turn<Call> {
    this.#filling ??= this.#begin()
    return this.#filling
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
    if (this.#options.isBusy()) setImmediate(this.#end)
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
