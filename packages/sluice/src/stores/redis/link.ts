import { createHash } from 'node:crypto'
import type { Awaitable } from '../store.js'
import { type Turn, Turns } from '../turns.js'
import { Batch, Reply } from './batch.js'
import { Breakers } from './breakers.js'
import type { ScriptRunner } from './clients/script-runner.js'
import { type FailureReason, type Failures, ForeignState } from './failures.js'
import { type PendingCall, Queue } from './queue.js'
import type { ScriptCall } from './script-call.js'

/** A batch has at most half of the pending calls, so that Redis works on one while this process reads another. */
const SHARE_OF_PENDING = 0.5
/** Batches of fewer calls than this are not split: each batch costs both sides a system call. */
const LEAST_SPLIT = 4

/** The options of a link. */
export interface LinkOptions {
  readonly script: string
  readonly deadlineMs: number
  readonly maxBatch: number
  readonly maxBatchesInFlight: number
  readonly maxPending: number
  /** More arguments for the script: a test tells it the time. */
  readonly extraArguments?: () => readonly string[]
  readonly failures: Failures
}

/**
 * Takes calls to Redis and their answers back. Calls that are made in one turn of the event loop leave together, in few
 * batches. Every call is answered once: by Redis, or without it soon after the deadline. No call is sent twice, unless
 * Redis said that it did not know the script and so did nothing.
 */
export class Link {
  readonly #runner: ScriptRunner
  readonly #options: LinkOptions
  readonly #failures: Failures
  readonly #sha: string
  readonly #mostInFlight: number
  readonly #breakers: Breakers
  readonly #queue: Queue
  readonly #turns: Turns<PendingCall>
  #calls = 0
  #batches = 0
  #scriptsSent = 0
  #late = 0

  constructor(runner: ScriptRunner, options: LinkOptions) {
    const { deadlineMs, maxBatch, maxBatchesInFlight, failures } = options
    this.#runner = runner
    this.#options = options
    this.#failures = failures
    this.#breakers = new Breakers(runner, deadlineMs, failures, (key) => this.#answersProbe(key))
    this.#queue = new Queue(runner.cluster)
    this.#turns = new Turns({
      deadlineMs,
      ended: () => this.#flush(),
      expired: (turn) => this.#expire(turn),
    })
    // In a cluster a batch is for one key. As many keys may be asked for as in full batches elsewhere.
    this.#mostInFlight = runner.cluster ? maxBatch * maxBatchesInFlight : maxBatchesInFlight
    this.#sha = createHash('sha1').update(options.script).digest('hex')
  }

  stats() {
    return {
      calls: this.#calls,
      pending: this.#turns.pending,
      batches: this.#batches,
      batchesInFlight: this.#turns.inFlight,
      scriptsSent: this.#scriptsSent,
      late: this.#late,
      breaker: this.#breakers.open > 0 ? ('open' as const) : ('closed' as const),
    }
  }

  /** Resolves with what the call reads from the reply or, if Redis does not answer it, with what its `fail` returns. */
  ask<T>(call: ScriptCall<T>): Promise<T> {
    this.#calls++
    const breaker = this.#breakers.of(call.keys[0])
    if (breaker.isOpen) return this.#refuse(call, 'breaker', breaker.error)
    if (this.#turns.pending >= this.#options.maxPending && !call.isUrgent)
      return this.#refuse(call, 'overload', undefined)
    const turn = this.#turns.join()
    return new Promise((answer) => {
      const pending: PendingCall = { call, breaker, turn, answer, isAnswered: false, sent: undefined }
      turn.calls.push(pending)
      this.#queue.add(pending)
    })
  }

  /** Are calls for a key refused, because its server has not answered lately? */
  isAway(key: string): boolean {
    return this.#breakers.of(key).isOpen
  }

  /**
   * Runs the script for something that no request waits for: in a batch of its own, whatever the breaker says, and with no
   * deadline. Rejects with the error of the client or of Redis.
   */
  async runAlone(batch: Batch): Promise<Reply> {
    this.#calls++
    this.#batches++
    return new Reply(await this.#run(batch))
  }

  /** Runs the script by its hash or, if Redis does not know it, by its text. */
  async #run(batch: Batch): Promise<unknown> {
    try {
      return await this.#runOnce(batch, false)
    } catch (error) {
      if (!isUnknownScript(error)) throw error
      return this.#runOnce(batch, true)
    }
  }

  /** Rejects also if the client throws. */
  #runOnce(batch: Batch, isText: boolean): Promise<unknown> {
    const { script, extraArguments } = this.#options
    const args = extraArguments === undefined ? batch.arguments() : [...batch.arguments(), ...extraArguments()]
    if (isText) this.#scriptsSent++
    try {
      const { keys } = batch
      // Some clients return a value instead of a promise.
      return Promise.resolve(
        isText ? this.#runner.eval(script, keys, args) : this.#runner.evalSha(this.#sha, keys, args),
      )
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #refuse<T>(call: ScriptCall<T>, reason: FailureReason, error: unknown): Promise<T> {
    return new Promise((answer) => this.#turns.refuse(() => answer(this.#fail(call, reason, error))))
  }

  #flush(): void {
    while (this.#turns.inFlight < this.#mostInFlight) {
      const mostCalls = Math.max(LEAST_SPLIT, Math.ceil(this.#turns.pending * SHARE_OF_PENDING))
      const calls = this.#queue.next(mostCalls, this.#options.maxBatch)
      if (calls.length === 0) return
      const { breaker } = calls[0]
      if (breaker.isOpen) this.#failAll(calls, 'breaker', breaker.error)
      else this.#send(calls)
    }
  }

  #send(calls: readonly PendingCall[]): void {
    this.#turns.inFlight++
    this.#batches++
    const sent = { open: calls.length }
    for (const pending of calls) pending.sent = sent
    this.#transmit(calls, false)
  }

  #transmit(calls: readonly PendingCall[], isText: boolean): void {
    const batch = new Batch()
    for (const { call } of calls) call.addTo(batch)
    this.#runOnce(batch, isText).then(
      (reply) => this.#received(calls, reply),
      (error: unknown) => {
        if (isText || !isUnknownScript(error)) return this.#refused(calls, error)
        // Redis did nothing. Calls that were answered meanwhile are not sent again.
        const waiting = calls.filter(({ isAnswered }) => !isAnswered)
        if (waiting.length > 0) this.#transmit(waiting, true)
      },
    )
  }

  #received(calls: readonly PendingCall[], reply: unknown): void {
    const { breaker, call } = calls[0]
    const isLate = calls.every(({ isAnswered }) => isAnswered)
    try {
      this.#read(calls, new Reply(reply))
      if (isLate) breaker.answeredLate(call.keys[0])
      else breaker.succeeded()
    } catch (error) {
      this.#refused(calls, error)
    }
    this.#flush()
  }

  #refused(calls: readonly PendingCall[], error: unknown): void {
    this.#failed(calls[0], error)
    this.#failAll(calls, 'error', error)
    this.#flush()
  }

  #read(calls: readonly PendingCall[], reply: Reply): void {
    for (const pending of calls) {
      // A call that was answered at its deadline reads its part too, so that the next call finds its own.
      const read = pending.call.read(reply)
      if (!this.#turns.ends(pending)) this.#late++
      else pending.answer(read instanceof ForeignState ? this.#fail(pending.call, 'foreign', read) : read)
    }
  }

  #expire({ calls }: Turn<PendingCall>): void {
    const error = new Error(`Redis did not answer within ${this.#options.deadlineMs} ms`)
    const waiting = calls.filter(({ isAnswered, sent }) => !isAnswered && sent !== undefined)
    // One failure for each breaker.
    for (const pending of new Map(waiting.map((each) => [each.breaker, each])).values()) this.#failed(pending, error)
    this.#failAll(calls, 'deadline', error)
    this.#flush()
  }

  #failAll(calls: readonly PendingCall[], reason: FailureReason, error: unknown): void {
    for (const pending of calls) if (this.#turns.ends(pending)) pending.answer(this.#fail(pending.call, reason, error))
  }

  #fail<T>(call: ScriptCall<T>, reason: FailureReason, error: unknown): Awaitable<T> {
    this.#failures.count(reason, error)
    return call.fail(reason, error)
  }

  #failed({ call, breaker }: PendingCall, error: unknown): void {
    if (!isRedirection(error)) breaker.failed(call.keys[0], error)
    // A client that knows of clusters would have followed.
    else if (!this.#runner.cluster) this.#failures.redirection()
  }

  /** Runs the script on nothing, to see whether the server answers. */
  #answersProbe(key: string): Promise<boolean> {
    const batch = new Batch()
    batch.keys.push(key)
    return this.#run(batch).then(
      () => true,
      () => false,
    )
  }
}

/** Redis did not know the script, and did nothing. */
function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && /\bNOSCRIPT\b|NoScriptError/.test(error.message)
}

/** A cluster answered that the keys are elsewhere or moving. Nothing was done, and no server is down. */
function isRedirection(error: unknown): boolean {
  return (
    error instanceof Error && /^(?:MOVED|ASK|TRYAGAIN) |\bMoved: |Too many Cluster redirections/i.test(error.message)
  )
}
