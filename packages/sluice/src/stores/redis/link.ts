import { createHash } from 'node:crypto'
// Imported, so that a test that replaces the global timers does not stop decisions.
import { setImmediate } from 'node:timers'
import { Batch } from './batch.js'
import type { Call, Turn } from './call.js'
import type { ScriptRunner } from './clients/runner.js'
import { Deadlines } from './deadlines.js'
import type { FailureReason } from './diagnostics.js'
import type { Lane, LaneOptions } from './lane.js'
import { Lanes } from './lanes.js'
import { Queue } from './queue.js'
import { Reply } from './reply.js'
import { Silence, type SilenceOptions } from './silence.js'

// Held for the same reason.
const { queueMicrotask } = globalThis
const { nextTick } = process

/** What a link is told once. */
export interface LinkOptions {
  readonly script: string
  readonly deadlineMs: number
  readonly maxBatch: number
  readonly maxBatchesInFlight: number
  readonly maxPending: number
  /** More arguments for the script. For tests that tell it the time. */
  readonly extraArguments: () => readonly string[]
  readonly onBreaker: LaneOptions['onBreaker']
  readonly onSilence: LaneOptions['onSilence']
  readonly onReconnect: SilenceOptions['onReconnect']
  /** Hears, perhaps often, that a server wanted a call to go elsewhere, and the client did not follow. */
  readonly onRedirection: () => void
}

interface Refusal {
  readonly call: Call
  readonly reason: FailureReason
  readonly error: unknown
}

/**
 * Takes calls to Redis and back. What is asked in one turn of the event loop leaves together, in as few batches as the
 * queue and `maxBatch` allow. Every call is answered once, by its deadline, whatever happens. Nothing is sent twice, unless
 * Redis said that it did not know the script and so did nothing.
 */
export class Link {
  readonly #runner: ScriptRunner
  readonly #options: LinkOptions
  readonly #sha: string
  readonly #mostInFlight: number
  readonly #silence: Silence
  readonly #lanes: Lanes
  readonly #queue: Queue
  #refusals: Refusal[] = []
  readonly #deadlines: Deadlines
  #turn: Turn | undefined
  #pending = 0
  #inFlight = 0
  #batches = 0
  #scriptsSent = 0
  #late = 0

  constructor(runner: ScriptRunner, options: LinkOptions) {
    this.#runner = runner
    this.#options = options
    const { random } = Math
    this.#silence = new Silence(runner, { ...options, random })
    this.#lanes = new Lanes({ ...options, random, silence: this.#silence, probe: (key) => this.#answersProbe(key) })
    this.#queue = new Queue(runner.cluster)
    this.#deadlines = new Deadlines(options.deadlineMs, (turn) => this.#expire(turn))
    const { maxBatch, maxBatchesInFlight } = options
    // In a cluster a batch is for one key, and as many keys may be asked for as in full batches elsewhere.
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
      breaker: this.#lanes.isAnyOpen ? ('open' as const) : ('closed' as const),
    }
  }

  ask(call: Call): void {
    const lane = this.#lanes.of(call.slot)
    if (lane.isOpen) this.#refuse(call, 'breaker', lane.error)
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

  /** Are calls for a slot refused, because its server has not answered lately? */
  isAway(slot: number): boolean {
    return this.#lanes.of(slot).isOpen
  }

  /**
   * Runs the script for something that no request waits for: by itself, whatever the breaker says, and with no deadline.
   * Rejects with the error of the client or of Redis.
   */
  async runAlone(batch: Batch): Promise<Reply> {
    const args = this.#argumentsOf(batch)
    this.#batches++
    try {
      return new Reply(await this.#runner.evalSha(this.#sha, batch.keys, args))
    } catch (error) {
      if (!isUnknownScript(error)) throw error
    }
    this.#scriptsSent++
    return new Reply(await this.#runner.eval(this.#options.script, batch.keys, args))
  }

  /** Not at once: who asks again and again would never let the event loop see that Redis is back. */
  #refuse(call: Call, reason: FailureReason, error: unknown): void {
    this.#refusals.push({ call, reason, error })
    if (this.#refusals.length > 1) return
    setImmediate(() => {
      const refusals = this.#refusals
      this.#refusals = []
      for (const { call, reason, error } of refusals) call.fail(reason, error)
    })
  }

  /** While Redis is at work, all that comes in during this round of the event loop can wait; otherwise only this task. */
  #beginTurn(): Turn {
    const turn: Turn = { calls: [], open: 0 }
    if (this.#inFlight > 0) setImmediate(this.#endTurn)
    else queueMicrotask(() => nextTick(this.#endTurn))
    return turn
  }

  readonly #endTurn = () => {
    // From here on it is Redis that is waited for; before, it was this process that was busy.
    if (this.#turn !== undefined) this.#deadlines.add(this.#turn)
    this.#turn = undefined
    this.#flush()
  }

  #flush(): void {
    while (this.#inFlight < this.#mostInFlight) {
      const calls = this.#queue.next(this.#options.maxBatch)
      if (calls.length === 0) return
      const lane = this.#lanes.of(calls[0].slot)
      if (lane.isOpen) this.#failAll(calls, 'breaker', lane.error)
      else this.#send(calls, lane)
    }
  }

  #send(calls: readonly Call[], lane: Lane): void {
    this.#inFlight++
    this.#batches++
    const sent = { open: calls.length }
    for (const call of calls) call.sent = sent
    const batch = batchOf(calls)
    promised(() => this.#runner.evalSha(this.#sha, batch.keys, this.#argumentsOf(batch))).then(
      (reply) => this.#received(calls, lane, reply),
      (error: unknown) => {
        if (isUnknownScript(error)) this.#sendText(calls, lane)
        else this.#refused(calls, lane, error)
      },
    )
  }

  /** Redis did not know the script, and did nothing: it is told the text, for those who still wait. */
  #sendText(calls: readonly Call[], lane: Lane): void {
    const waiting = calls.filter(({ isAnswered }) => !isAnswered)
    if (waiting.length === 0) return
    this.#scriptsSent++
    const batch = batchOf(waiting)
    promised(() => this.#runner.eval(this.#options.script, batch.keys, this.#argumentsOf(batch))).then(
      (reply) => this.#received(waiting, lane, reply),
      (error: unknown) => this.#refused(waiting, lane, error),
    )
  }

  #received(calls: readonly Call[], lane: Lane, reply: unknown): void {
    const isLate = calls.every(({ isAnswered }) => isAnswered)
    try {
      this.#read(calls, reply)
      if (isLate) lane.answeredLate(calls[0].key)
      else lane.succeeded()
    } catch (error) {
      this.#refused(calls, lane, error)
    }
    this.#flush()
  }

  #refused(calls: readonly Call[], lane: Lane, error: unknown): void {
    this.#failed(lane, calls[0].key, error)
    this.#failAll(calls, 'error', error)
    this.#flush()
  }

  #argumentsOf(batch: Batch): readonly string[] {
    return [batch.toString(), ...this.#options.extraArguments()]
  }

  #read(calls: readonly Call[], numbers: unknown): void {
    const reply = new Reply(numbers)
    for (const call of calls) {
      // Even one that was answered at its deadline reads its part, for the next to find theirs.
      const foreign = call.read(reply)
      if (!this.#answers(call)) this.#late++
      else if (foreign !== undefined) call.fail('foreign', foreign)
    }
  }

  /** Counts a call as answered. Says no if it has been already. */
  #answers(call: Call): boolean {
    if (call.isAnswered) return false
    call.isAnswered = true
    if (--this.#pending === 0) this.#deadlines.release()
    // What is over is let go: a turn is kept until its deadline, and its calls would grow old with it.
    if (call.turn !== undefined && --call.turn.open === 0) call.turn.calls = []
    // A batch that nobody waits for any more makes room for the next, even if its reply never comes.
    if (call.sent !== undefined && --call.sent.open === 0) this.#inFlight--
    return true
  }

  #expire(turn: Turn): void {
    const error = new Error(`Redis did not answer within ${this.#options.deadlineMs} ms`)
    const lanes = new Map<Lane, string>()
    for (const call of turn.calls)
      if (!call.isAnswered && call.sent !== undefined) lanes.set(this.#lanes.of(call.slot), call.key)
    for (const [lane, key] of lanes) this.#failed(lane, key, error)
    this.#failAll(turn.calls, 'deadline', error)
    this.#flush()
  }

  #failAll(calls: readonly Call[], reason: FailureReason, error: unknown): void {
    for (const call of calls) if (this.#answers(call)) call.fail(reason, error)
  }

  #failed(lane: Lane, key: string, error: unknown): void {
    if (!isRedirection(error)) lane.failed(key, error)
    // A client that knows of clusters would have followed.
    else if (!this.#runner.cluster) this.#options.onRedirection()
  }

  /** Runs the script on nothing: whether it answers is all there is to know. */
  async #answersProbe(key: string): Promise<boolean> {
    const args = this.#argumentsOf(new Batch())
    try {
      await this.#runner.evalSha(this.#sha, [key], args)
      return true
    } catch (error) {
      if (!isUnknownScript(error)) return false
    }
    this.#scriptsSent++
    return promised(() => this.#runner.eval(this.#options.script, [key], args)).then(
      () => true,
      () => false,
    )
  }
}

function batchOf(calls: readonly Call[]): Batch {
  const batch = new Batch()
  for (const call of calls) call.addTo(batch)
  return batch
}

/** A client that throws instead of rejecting, or answers at once, is a client like any other. */
function promised(run: () => Promise<unknown>): Promise<unknown> {
  try {
    return Promise.resolve(run())
  } catch (error) {
    return Promise.reject(error)
  }
}

/** Redis did not know the script: nothing was done. */
function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && /\bNOSCRIPT\b|NoScriptError/.test(error.message)
}

/** A cluster answered that the keys are elsewhere or on their way: nothing was done, and no server is down. */
function isRedirection(error: unknown): boolean {
  return (
    error instanceof Error && /^(?:MOVED|ASK|TRYAGAIN) |\bMoved: |Too many Cluster redirections/i.test(error.message)
  )
}
