import { createHash } from 'node:crypto'
// Imported, so that a test that replaces the global timers does not stop decisions.
import { setImmediate } from 'node:timers'
import { type Breaker, Breakers } from '../remote/breakers.js'
import { Deadlines } from '../remote/deadlines.js'
import { Batch, Reply } from './batch.js'
import type { ScriptRunner } from './clients/script-runner.js'
import type { FailureReason, Failures } from './failures.js'
import { Queue } from './queue.js'
import type { ScriptCall, Turn } from './script-call.js'
import { Silence } from './silence.js'

// Held for the same reason.
const { nextTick } = process
const settled = Promise.resolve()

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

interface Refusal {
  readonly call: ScriptCall
  readonly reason: FailureReason
  readonly error: unknown
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
  readonly #silence: Silence
  readonly #breakers: Breakers
  readonly #queue: Queue
  readonly #deadlines: Deadlines<Turn>
  #refusals: Refusal[] = []
  /** The turn that is being filled. */
  #turn: Turn | undefined
  #pending = 0
  #inFlight = 0
  #batches = 0
  #scriptsSent = 0
  #late = 0

  constructor(runner: ScriptRunner, options: LinkOptions) {
    const { deadlineMs, maxBatch, maxBatchesInFlight, failures } = options
    this.#runner = runner
    this.#options = options
    this.#failures = failures
    const { random } = Math
    this.#silence = new Silence(runner, { deadlineMs, random, onReconnect: () => failures.reconnect() })
    this.#breakers = new Breakers({
      deadlineMs,
      random,
      silence: this.#silence,
      probe: (key) => this.#answersProbe(key),
      onBreaker: (state, error) => failures.breaker(state, error),
      onLongOutage: () => failures.longOutage(),
    })
    this.#queue = new Queue(runner.cluster)
    this.#deadlines = new Deadlines(deadlineMs, (turn) => this.#expire(turn))
    // In a cluster a batch is for one key. As many keys may be asked for as in full batches elsewhere.
    this.#mostInFlight = runner.cluster ? maxBatch * maxBatchesInFlight : maxBatchesInFlight
    this.#sha = createHash('sha1').update(options.script).digest('hex')
  }

  stats() {
    return {
      pending: this.#pending,
      batches: this.#batches,
      batchesInFlight: this.#inFlight,
      scriptsSent: this.#scriptsSent,
      late: this.#late,
      reconnects: this.#silence.reconnects,
      breaker: this.#breakers.isAnyOpen ? ('open' as const) : ('closed' as const),
    }
  }

  ask(call: ScriptCall): void {
    const breaker = this.#breakers.of(call.hashSlot)
    if (breaker.isOpen) this.#refuse(call, 'breaker', breaker.error)
    else if (this.#pending >= this.#options.maxPending && !call.isUrgent) this.#refuse(call, 'overload', undefined)
    else {
      this.#turn ??= this.#beginTurn()
      this.#turn.calls.push(call)
      this.#turn.open++
      call.turn = this.#turn
      if (++this.#pending === 1) this.#deadlines.hold()
      this.#queue.add(call)
    }
  }

  /** Are calls for a hash slot refused, because its server has not answered lately? */
  isAway(hashSlot: number): boolean {
    return this.#breakers.of(hashSlot).isOpen
  }

  /**
   * Runs the script for something that no request waits for: in a batch of its own, whatever the breaker says, and with no
   * deadline. Rejects with the error of the client or of Redis.
   */
  async runAlone(batch: Batch): Promise<Reply> {
    this.#batches++
    return new Reply(await this.#run(batch.keys, this.#argumentsOf(batch)))
  }

  /** Runs the script by its hash or, if Redis does not know it, by its text. */
  async #run(keys: readonly string[], args: readonly string[]): Promise<unknown> {
    try {
      return await this.#runner.evalSha(this.#sha, keys, args)
    } catch (error) {
      if (!isUnknownScript(error)) throw error
    }
    this.#scriptsSent++
    return this.#runner.eval(this.#options.script, keys, args)
  }

  /** Not at once: a caller that asks again and again would never let the event loop see that Redis is back. */
  #refuse(call: ScriptCall, reason: FailureReason, error: unknown): void {
    this.#refusals.push({ call, reason, error })
    if (this.#refusals.length > 1) return
    setImmediate(() => {
      const refusals = this.#refusals
      this.#refusals = []
      for (const { call, reason, error } of refusals) this.#fail(call, reason, error)
    })
  }

  /** While Redis is at work, a turn lasts until this round of the event loop ends; otherwise until this task ends. */
  #beginTurn(): Turn {
    if (this.#inFlight > 0) setImmediate(this.#endTurn)
    // Cheaper than queueMicrotask, which makes an AsyncResource.
    else void settled.then(this.#endTurnAfterTask)
    return { calls: [], open: 0, endsMs: 0 }
  }

  /** A tick that is asked for by a microtask runs after all microtasks of the task. */
  readonly #endTurnAfterTask = () => nextTick(this.#endTurn)

  readonly #endTurn = () => {
    // The deadline begins here: until now this process was busy, not Redis.
    if (this.#turn !== undefined) this.#deadlines.add(this.#turn)
    this.#turn = undefined
    this.#flush()
  }

  #flush(): void {
    while (this.#inFlight < this.#mostInFlight) {
      const mostCalls = Math.max(LEAST_SPLIT, Math.ceil(this.#pending * SHARE_OF_PENDING))
      const calls = this.#queue.next(mostCalls, this.#options.maxBatch)
      if (calls.length === 0) return
      const breaker = this.#breakers.of(calls[0].hashSlot)
      if (breaker.isOpen) this.#failAll(calls, 'breaker', breaker.error)
      else this.#send(calls, breaker)
    }
  }

  #send(calls: readonly ScriptCall[], breaker: Breaker): void {
    this.#inFlight++
    this.#batches++
    const sent = { open: calls.length }
    for (const call of calls) call.sent = sent
    const batch = batchOf(calls)
    promised(() => this.#runner.evalSha(this.#sha, batch.keys, this.#argumentsOf(batch))).then(
      (reply) => this.#received(calls, breaker, reply),
      (error: unknown) => {
        if (isUnknownScript(error)) this.#sendText(calls, breaker)
        else this.#refused(calls, breaker, error)
      },
    )
  }

  /** Redis did not know the script and did nothing: sends its text, for the calls that still wait. */
  #sendText(calls: readonly ScriptCall[], breaker: Breaker): void {
    const waiting = calls.filter(({ isAnswered }) => !isAnswered)
    if (waiting.length === 0) return
    this.#scriptsSent++
    const batch = batchOf(waiting)
    promised(() => this.#runner.eval(this.#options.script, batch.keys, this.#argumentsOf(batch))).then(
      (reply) => this.#received(waiting, breaker, reply),
      (error: unknown) => this.#refused(waiting, breaker, error),
    )
  }

  #received(calls: readonly ScriptCall[], breaker: Breaker, reply: unknown): void {
    const isLate = calls.every(({ isAnswered }) => isAnswered)
    try {
      this.#read(calls, new Reply(reply))
      if (isLate) breaker.answeredLate(calls[0].keys[0])
      else breaker.succeeded()
    } catch (error) {
      this.#refused(calls, breaker, error)
    }
    this.#flush()
  }

  #refused(calls: readonly ScriptCall[], breaker: Breaker, error: unknown): void {
    this.#failed(breaker, calls[0].keys[0], error)
    this.#failAll(calls, 'error', error)
    this.#flush()
  }

  #argumentsOf(batch: Batch): readonly string[] {
    const { extraArguments } = this.#options
    return extraArguments === undefined ? batch.arguments() : [...batch.arguments(), ...extraArguments()]
  }

  #read(calls: readonly ScriptCall[], reply: Reply): void {
    for (const call of calls) {
      // A call that was answered at its deadline reads its part too, so that the next call finds its own.
      const foreign = call.read(reply)
      if (!this.#answers(call)) this.#late++
      else if (foreign !== undefined) this.#fail(call, 'foreign', foreign)
    }
  }

  /** Counts a call as answered; returns false if it was answered before. */
  #answers(call: ScriptCall): boolean {
    if (call.isAnswered) return false
    call.isAnswered = true
    if (--this.#pending === 0) this.#deadlines.release()
    // A turn is kept until its deadline. Its calls are let go as soon as all are answered.
    if (call.turn !== undefined && --call.turn.open === 0) call.turn.calls = []
    // A batch whose calls are all answered makes room for the next, even if its reply never comes.
    if (call.sent !== undefined && --call.sent.open === 0) this.#inFlight--
    return true
  }

  #expire(turn: Turn): void {
    const error = new Error(`Redis did not answer within ${this.#options.deadlineMs} ms`)
    const breakers = new Map<Breaker, string>()
    for (const { isAnswered, sent, hashSlot, keys } of turn.calls) {
      if (!isAnswered && sent !== undefined) breakers.set(this.#breakers.of(hashSlot), keys[0])
    }
    for (const [breaker, key] of breakers) this.#failed(breaker, key, error)
    this.#failAll(turn.calls, 'deadline', error)
    this.#flush()
  }

  #failAll(calls: readonly ScriptCall[], reason: FailureReason, error: unknown): void {
    for (const call of calls) if (this.#answers(call)) this.#fail(call, reason, error)
  }

  #fail(call: ScriptCall, reason: FailureReason, error: unknown): void {
    this.#failures.count(reason, error)
    call.fail(reason, error)
  }

  #failed(breaker: Breaker, key: string, error: unknown): void {
    if (!isRedirection(error)) breaker.failed(key, error)
    // A client that knows of clusters would have followed.
    else if (!this.#runner.cluster) this.#failures.redirection()
  }

  /** Runs the script on nothing, to see whether the server answers. */
  #answersProbe(key: string): Promise<boolean> {
    return this.#run([key], this.#argumentsOf(new Batch())).then(
      () => true,
      () => false,
    )
  }
}

function batchOf(calls: readonly ScriptCall[]): Batch {
  const batch = new Batch()
  for (const call of calls) call.addTo(batch)
  return batch
}

/** A promise also for a client that throws instead of rejecting, or returns a value. */
function promised(run: () => Promise<unknown>): Promise<unknown> {
  try {
    return Promise.resolve(run())
  } catch (error) {
    return Promise.reject(error)
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
