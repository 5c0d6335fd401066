// Imported, so that a test that replaces the global timers does not stop decisions.
import { clearTimeout, setImmediate, setTimeout } from 'node:timers'
import type { OnFailure } from '../on-failure.js'
import { type Breaker, Breakers, type ConnectionWatch } from '../remote/breakers.js'
import { Deadlines } from '../remote/deadlines.js'
import { CallsBody, problemOfAnswer, readAnswers } from './calls-body.js'
import type { CallTurn, ServiceCall } from './service-call.js'
import type { ServiceConnection } from './service-connection.js'
import type { ServiceFailureReason, ServiceFailures } from './service-failures.js'

// Held for the same reason.
const { nextTick } = process
const settled = Promise.resolve()

/** A request to the service has at most this many demands, and characters of names and keys, unless one call has more. */
const MOST_DEMANDS = 5_000
const MOST_CHARACTERS = 500_000

/** A request that is given up closes its connection, so no connection stays silent. */
const NO_WATCH: ConnectionWatch = { probeFailed: () => true, heard: () => {} }

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

interface RefusedCall {
  readonly call: ServiceCall
  readonly reason: ServiceFailureReason
  readonly error: unknown
}

/**
 * Takes calls to a service and their answers back. Calls that are made in one turn of the event loop leave together, in one
 * HTTP request. Every call is answered once: by the service, or without it soon after the deadline. No call is sent twice.
 */
export class ServiceLink {
  readonly #connection: ServiceConnection
  readonly #options: ServiceLinkOptions
  readonly #failures: ServiceFailures
  readonly #breaker: Breaker
  readonly #deadlines: Deadlines<CallTurn>
  /** Calls that wait to be sent, oldest first. */
  #queue: ServiceCall[] = []
  #refused: RefusedCall[] = []
  /** The turn that is being filled. */
  #turn: CallTurn | undefined
  #pending = 0
  #inFlight = 0
  #requests = 0

  constructor(connection: ServiceConnection, options: ServiceLinkOptions) {
    const { deadlineMs, failures } = options
    this.#connection = connection
    this.#options = options
    this.#failures = failures
    this.#breaker = new Breakers({
      deadlineMs,
      random: Math.random,
      silence: NO_WATCH,
      probe: () => this.#answersProbe(),
      onBreaker: (state, error) => failures.breaker(state, error),
      onLongOutage: () => failures.longOutage(this.#breaker.error),
    }).of(0)
    this.#deadlines = new Deadlines(deadlineMs, (turn) => this.#expire(turn))
  }

  stats() {
    return {
      pending: this.#pending,
      requests: this.#requests,
      requestsInFlight: this.#inFlight,
      breaker: this.#breaker.isOpen ? ('open' as const) : ('closed' as const),
    }
  }

  ask(call: ServiceCall): void {
    if (this.#breaker.isOpen) this.#refuse(call, 'breaker', this.#breaker.error)
    else if (this.#pending >= this.#options.maxPending && !call.isUrgent) this.#refuse(call, 'overload', undefined)
    else {
      this.#turn ??= this.#beginTurn()
      this.#turn.calls.push(call)
      this.#turn.open++
      call.turn = this.#turn
      if (++this.#pending === 1) this.#deadlines.hold()
      this.#queue.push(call)
    }
  }

  /** Not at once: a caller that asks again and again would never let the event loop see that the service is back. */
  #refuse(call: ServiceCall, reason: ServiceFailureReason, error: unknown): void {
    this.#refused.push({ call, reason, error })
    if (this.#refused.length > 1) return
    setImmediate(() => {
      const refused = this.#refused
      this.#refused = []
      for (const { call, reason, error } of refused) this.#fail(call, reason, error)
    })
  }

  /** While the service is at work, a turn lasts until this round of the event loop ends; otherwise until this task ends. */
  #beginTurn(): CallTurn {
    if (this.#inFlight > 0) setImmediate(this.#endTurn)
    else void settled.then(this.#endTurnAfterTask)
    return { calls: [], open: 0, endsMs: 0 }
  }

  /** A tick that is asked for by a microtask runs after all microtasks of the task. */
  readonly #endTurnAfterTask = () => nextTick(this.#endTurn)

  readonly #endTurn = () => {
    // The deadline begins here: until now this process was busy, not the service.
    if (this.#turn !== undefined) this.#deadlines.add(this.#turn)
    this.#turn = undefined
    this.#flush()
  }

  #flush(): void {
    while (this.#inFlight < this.#options.maxConnections) {
      const calls = this.#nextBatch()
      if (calls.length === 0) return
      if (this.#breaker.isOpen) this.#failAll(calls, 'breaker', this.#breaker.error)
      else this.#send(calls)
    }
  }

  /** Removes the calls of the next request from the queue. Calls that were answered at their deadline are dropped. */
  #nextBatch(): readonly ServiceCall[] {
    const batch: ServiceCall[] = []
    let demands = 0
    let characters = 0
    let taken = 0
    for (; taken < this.#queue.length && batch.length < this.#options.maxBatch; taken++) {
      const call = this.#queue[taken]
      if (call.isAnswered) continue
      demands += call.demands
      characters += call.characters
      if (batch.length > 0 && (demands > MOST_DEMANDS || characters > MOST_CHARACTERS)) break
      batch.push(call)
    }
    this.#queue = taken === this.#queue.length ? [] : this.#queue.slice(taken)
    return batch
  }

  #send(calls: readonly ServiceCall[]): void {
    this.#inFlight++
    this.#requests++
    const body = new CallsBody(this.#options.onFailure)
    for (const call of calls) call.write(body)
    const giveUp = this.#connection.post(body.text(), (error, text) => {
      if (error === undefined) this.#received(calls, text)
      else this.#lost(calls, error)
      this.#flush()
    })
    const sent = { open: calls.length, giveUp }
    for (const call of calls) call.sent = sent
  }

  #received(calls: readonly ServiceCall[], text: string): void {
    try {
      this.#read(calls, readAnswers(text, calls.length))
      this.#breaker.succeeded()
    } catch (error) {
      this.#lost(calls, error)
    }
  }

  /** Answers each call. Throws the last error of a malformed answer; its call is answered too. */
  #read(calls: readonly ServiceCall[], answers: readonly unknown[]): void {
    let malformed: unknown
    for (const [i, call] of calls.entries()) {
      // A call of an earlier turn may have been answered at its deadline.
      if (!this.#answers(call)) continue
      const problem = problemOfAnswer(answers[i])
      if (problem !== undefined) {
        this.#fail(call, 'error', problem)
        continue
      }
      try {
        call.read(answers[i])
      } catch (error) {
        malformed = error
        this.#fail(call, 'error', error)
      }
    }
    if (malformed !== undefined) throw malformed
  }

  #lost(calls: readonly ServiceCall[], error: unknown): void {
    this.#breaker.failed('', error)
    this.#failAll(calls, 'error', error)
  }

  /** Counts a call as answered; returns false if it was answered before. */
  #answers(call: ServiceCall): boolean {
    if (call.isAnswered) return false
    call.isAnswered = true
    if (--this.#pending === 0) this.#deadlines.release()
    // A turn is kept until its deadline. Its calls are let go as soon as all are answered.
    if (call.turn !== undefined && --call.turn.open === 0) call.turn.calls = []
    if (call.sent !== undefined && --call.sent.open === 0) this.#inFlight--
    return true
  }

  #expire(turn: CallTurn): void {
    const error = new Error(`the service did not answer within ${this.#options.deadlineMs} ms`)
    const { calls } = turn
    if (calls.some(({ isAnswered, sent }) => !isAnswered && sent !== undefined)) this.#breaker.failed('', error)
    this.#failAll(calls, 'deadline', error)
    // A request that no caller waits for any more is given up: its connection may be dead.
    for (const sent of new Set(calls.map((call) => call.sent))) if (sent?.open === 0) sent.giveUp()
    this.#flush()
  }

  #failAll(calls: readonly ServiceCall[], reason: ServiceFailureReason, error: unknown): void {
    for (const call of calls) if (this.#answers(call)) this.#fail(call, reason, error)
  }

  #fail(call: ServiceCall, reason: ServiceFailureReason, error: unknown): void {
    this.#failures.count(reason, error)
    call.fail(reason, error)
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
