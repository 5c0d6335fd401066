import { type NamedLimit, StoreUnavailableError } from 'sluice'
import type { FromThread, ToThread } from '../to-worker.js'
import { errorFrom, type Question } from './question.js'
import type { SharedFact } from './shared-fact.js'

/** The first thread answers at once unless it is held up. A request that waits longer is told to come again. */
const LONGEST_MS = 5_000

/** One question that waits for its answer. */
interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout
}

/** A thread's way to the first thread: questions, each of which is answered or fails in time, and facts. */
export class FirstLink {
  readonly #send: (message: FromThread) => void
  readonly #longestMs: number
  readonly #waiting = new Map<number, Waiting>()
  #last = 0
  /** Hears what every thread must know. */
  onFacts: (facts: readonly SharedFact[]) => void = () => {}

  constructor(send: (message: FromThread) => void, longestMs = LONGEST_MS) {
    this.#send = send
    this.#longestMs = longestMs
  }

  /** Rejects with a `StoreUnavailableError` if no answer comes in time: then it may have been done or not. */
  ask<T>(question: Question): Promise<T> {
    const asked = ++this.#last
    return new Promise<T>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(asked)
        const waited = `did not answer within ${this.#longestMs} ms`
        reject(new StoreUnavailableError(`the thread that keeps reservations and overrides ${waited}`))
      }, this.#longestMs)
      this.#waiting.set(asked, { resolve: resolve as Waiting['resolve'], reject, timer })
      this.#send({ asked, question })
    })
  }

  /** Tells all other threads. */
  tell(fact: { readonly limit: NamedLimit }): void {
    this.#send({ fact })
  }

  /** A line of the log, as JSON. */
  log(line: string): void {
    this.#send({ logged: line })
  }

  /** Hears a message of the first thread. An answer that comes too late is dropped. */
  hear(message: ToThread): void {
    if ('facts' in message) {
      this.onFacts(message.facts)
      return
    }
    const waiting = this.#waiting.get(message.answered)
    if (waiting === undefined) return
    this.#waiting.delete(message.answered)
    clearTimeout(waiting.timer)
    if ('error' in message) waiting.reject(errorFrom(message.error))
    else waiting.resolve(message.value)
  }
}
