// Imported, so that a test that replaces the global timers does not stop decisions.
import { clearTimeout, setTimeout } from 'node:timers'
import type { Awaitable, OnFailure } from '../store.js'
import { type Turn, Turns } from '../turns.js'
import { CallsBody, problemOfAnswer, readAnswers } from './calls-body.js'
import { ServiceBreaker } from './service-breaker.js'
import type { ServiceCall } from './service-call.js'
import type { ServiceConnection } from './service-connection.js'
import type { ServiceFailureReason, ServiceFailures } from './service-failures.js'

/** A request to the service has at most this many names and keys, and characters of them, unless one call has more. */
const MOST_KEYS = 5_000
const MOST_CHARACTERS = 500_000

/** The options of a link. */
interface ServiceLinkOptions {
  readonly deadlineMs: number
  readonly maxBatch: number
  readonly maxConnections: number
  readonly maxPending: number
  /** The rule that the service follows while its own store is away, for demands without a rule. */
  readonly onFailure: OnFailure | undefined
  readonly failures: ServiceFailures
}

/** A call that was made. */
interface SentCall {
  readonly call: ServiceCall<unknown>
  readonly turn: Turn<SentCall>
  answer(answer: unknown): void
  isAnswered: boolean
  /** The request that it was sent with, once it has been sent. `open` counts its calls that have no answer yet. */
  sent: { open: number; readonly giveUp: () => void } | undefined
}

/**
 * Takes calls to a service and their answers back. Calls that are made in one turn of the event loop leave together, in one
 * HTTP request. Every call is answered once: by the service, or without it soon after the deadline. No call is sent twice.
 */
export class ServiceLink {
  readonly #connection: ServiceConnection
  readonly #options: ServiceLinkOptions
  readonly #failures: ServiceFailures
  readonly #breaker: ServiceBreaker
  readonly #turns: Turns<SentCall>
  /** Calls that wait to be sent, oldest first. */
  #queue: SentCall[] = []
  #calls = 0
  #requests = 0

  constructor(connection: ServiceConnection, options: ServiceLinkOptions) {
    this.#connection = connection
    this.#options = options
    this.#failures = options.failures
    this.#breaker = new ServiceBreaker(options.failures, () => this.#answersProbe())
    this.#turns = new Turns({
      deadlineMs: options.deadlineMs,
      ended: () => this.#flush(),
      expired: (turn) => this.#expire(turn),
    })
  }

  stats() {
    return {
      calls: this.#calls,
      pending: this.#turns.pending,
      requests: this.#requests,
      requestsInFlight: this.#turns.inFlight,
      breaker: this.#breaker.isOpen ? ('open' as const) : ('closed' as const),
    }
  }

  /** Resolves with what the call reads from the answer or, if the service does not answer, with what its `fail` returns. */
  ask<T>(call: ServiceCall<T>): Promise<T> {
    this.#calls++
    if (this.#breaker.isOpen) return this.#refuse(call, 'breaker', this.#breaker.error)
    if (this.#turns.pending >= this.#options.maxPending && !call.isUrgent)
      return this.#refuse(call, 'overload', undefined)
    const turn = this.#turns.join()
    return new Promise((resolve) => {
      const answer = resolve as (answer: unknown) => void
      const pending: SentCall = { call, turn, answer, isAnswered: false, sent: undefined }
      turn.calls.push(pending)
      this.#queue.push(pending)
    })
  }

  #refuse<T>(call: ServiceCall<T>, reason: ServiceFailureReason, error: unknown): Promise<T> {
    return new Promise((answer) => this.#turns.refuse(() => answer(this.#fail(call, reason, error))))
  }

  #flush(): void {
    while (this.#turns.inFlight < this.#options.maxConnections) {
      const calls = this.#nextBatch()
      if (calls.length === 0) return
      if (this.#breaker.isOpen) this.#failAll(calls, 'breaker', this.#breaker.error)
      else this.#send(calls)
    }
  }

  /** Removes the calls of the next request from the queue. Calls that were answered at their deadline are dropped. */
  #nextBatch(): readonly SentCall[] {
    const batch: SentCall[] = []
    let keys = 0
    let characters = 0
    let taken = 0
    for (; taken < this.#queue.length && batch.length < this.#options.maxBatch; taken++) {
      const pending = this.#queue[taken]
      if (pending.isAnswered) continue
      keys += pending.call.keys.length
      for (const { name, key } of pending.call.keys) characters += name.length + key.length
      if (batch.length > 0 && (keys > MOST_KEYS || characters > MOST_CHARACTERS)) break
      batch.push(pending)
    }
    this.#queue = taken === this.#queue.length ? [] : this.#queue.slice(taken)
    return batch
  }

  #send(calls: readonly SentCall[]): void {
    this.#turns.inFlight++
    this.#requests++
    const body = new CallsBody(this.#options.onFailure)
    for (const { call } of calls) call.write(body)
    const giveUp = this.#connection.post(body.text(), (error, text) => {
      if (error === undefined) this.#received(calls, text)
      else this.#lost(calls, error)
      this.#flush()
    })
    const sent = { open: calls.length, giveUp }
    for (const pending of calls) pending.sent = sent
  }

  #received(calls: readonly SentCall[], text: string): void {
    try {
      const answers = readAnswers(text, calls.length)
      for (const [i, pending] of calls.entries()) this.#read(pending, answers[i])
      this.#breaker.succeeded()
    } catch (error) {
      this.#lost(calls, error)
    }
  }

  /** Answers one call. Throws if its answer is malformed. */
  #read(pending: SentCall, answer: unknown): void {
    const { call } = pending
    const problem = problemOfAnswer(answer)
    const read = problem === undefined ? call.read(answer) : undefined
    // A call of an earlier turn may have been answered at its deadline.
    if (!this.#turns.ends(pending)) return
    pending.answer(problem === undefined ? read : this.#fail(call, 'error', problem))
  }

  /** Calls that were answered before stay as they are. */
  #lost(calls: readonly SentCall[], error: unknown): void {
    this.#breaker.failed(error)
    this.#failAll(calls, 'error', error)
  }

  #expire({ calls }: Turn<SentCall>): void {
    const error = new Error(`the service did not answer within ${this.#options.deadlineMs} ms`)
    if (calls.some(({ isAnswered, sent }) => !isAnswered && sent !== undefined)) this.#breaker.failed(error)
    this.#failAll(calls, 'deadline', error)
    // A request that no caller waits for any more is given up: its connection may be dead.
    for (const sent of new Set(calls.map((pending) => pending.sent))) if (sent?.open === 0) sent.giveUp()
    this.#flush()
  }

  #failAll(calls: readonly SentCall[], reason: ServiceFailureReason, error: unknown): void {
    for (const pending of calls) if (this.#turns.ends(pending)) pending.answer(this.#fail(pending.call, reason, error))
  }

  #fail<T>(call: ServiceCall<T>, reason: ServiceFailureReason, error: unknown): Awaitable<T> {
    this.#failures.count(reason, error)
    return call.fail(reason, error)
  }

  /** Sends no calls, to see whether the service answers in time. */
  #answersProbe(): Promise<boolean> {
    return new Promise((resolve) => {
      const giveUp = this.#connection.post(new CallsBody(undefined).text(), (error) => {
        clearTimeout(timer)
        resolve(error === undefined)
      })
      const timer = setTimeout(() => {
        giveUp()
        resolve(false)
      }, this.#options.deadlineMs).unref()
    })
  }
}
