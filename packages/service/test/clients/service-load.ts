import { setTimeout as pause } from 'node:timers/promises'
import { type Decision, type OnFailure, tokenBucket } from 'sluice'
import { type ServiceStore, serviceStore } from 'sluice/client'
import { expect } from 'vitest'
import { LoopDelay } from '../../../sluice/test/redis/faults-loop-delay.js'

const DEADLINE_MS = 50
const CAPACITY = 200
const REFILL_PER_MS = 1
const INSTANCES = 4
/** How late an answer may be, beyond its deadline and the delay of the event loop. */
const SLACK_MS = 20

const bucket = tokenBucket({ capacity: CAPACITY, refill: '1000/s' })
const RULES: readonly OnFailure[] = ['closed', 'local', 'open']

/** The answers that callers of one rule got. */
class Answers {
  admitted = 0
  served = 0
  degradedAdmitted = 0
  degraded = 0
  readonly rules = new Set<string>()
  firstUs = Infinity
  lastUs = 0
  firstDegradedMs = Infinity
  lastDegradedMs = 0

  add({ allowed, degraded }: Decision, takenUs: number): void {
    if (degraded !== undefined) {
      this.degraded++
      if (allowed) this.degradedAdmitted++
      this.rules.add(degraded)
      this.firstDegradedMs = Math.min(this.firstDegradedMs, performance.now())
      this.lastDegradedMs = performance.now()
      return
    }
    this.served++
    if (!allowed) return
    this.admitted++
    this.firstUs = Math.min(this.firstUs, takenUs)
    this.lastUs = Math.max(this.lastUs, takenUs)
  }
}

/** 150 callers of one store that ask, wait a little and ask again: 50 for each `onFailure`, on a bucket a rule. */
export class ServiceLoad {
  readonly store: ServiceStore
  readonly errors: unknown[] = []
  readonly #delay = new LoopDelay().start()
  readonly #callers: readonly Promise<void>[]
  #answers = newAnswers()
  #running = true
  #worstExcessMs = -Infinity

  constructor(url: string) {
    this.store = serviceStore(url, { deadlineMs: DEADLINE_MS, instances: INSTANCES })
    this.#callers = RULES.flatMap((rule) => Array.from({ length: 50 }, () => this.#calls(rule)))
  }

  /** Begins to count anew, and returns the counts so far. */
  recount(): Readonly<Record<OnFailure, Answers>> {
    const counted = this.#answers
    this.#answers = newAnswers()
    return counted
  }

  /** Has the service answered callers of every rule so often, and denied some? */
  isServed(times: number): boolean {
    return Object.values(this.#answers).every(({ served, admitted }) => served >= times && admitted < served)
  }

  /** Were callers of every rule answered so often without the service? */
  isDegraded(times: number): boolean {
    return Object.values(this.#answers).every(({ degraded }) => degraded >= times)
  }

  async stop(): Promise<void> {
    this.#running = false
    await Promise.all(this.#callers)
    this.#delay.stop()
  }

  /** No call was rejected, and none took longer than its deadline. */
  expectPromptAnswers(): void {
    expect(this.errors).toEqual([])
    expect(this.#worstExcessMs).toBeLessThanOrEqual(SLACK_MS)
  }

  async #calls(onFailure: OnFailure): Promise<void> {
    while (this.#running) {
      const startedMs = performance.now()
      const delayedMs = this.#delay.totalMs()
      const answers = this.#answers
      const demand = { name: onFailure, limit: bucket, key: 'everyone', cost: 1, onFailure }
      try {
        const { decisions, takenUs } = await this.store.decide([demand])
        answers[onFailure].add(decisions[0], takenUs[0])
      } catch (error) {
        this.errors.push(error)
      }
      const delayMs = Math.max(0, this.#delay.totalMs() - delayedMs)
      const excessMs = performance.now() - startedMs - DEADLINE_MS - delayMs
      this.#worstExcessMs = Math.max(this.#worstExcessMs, excessMs)
      await pause(10)
    }
  }
}

function newAnswers(): Record<OnFailure, Answers> {
  return { closed: new Answers(), local: new Answers(), open: new Answers() }
}

/**
 * The service admits `capacity + refill · time`. Without it, `closed` admits nothing, `local` one share of the limit, and
 * `open` everything.
 */
export function expectRulesToHold(answers: Readonly<Record<OnFailure, Answers>>): void {
  const { closed, local, open } = answers
  for (const { admitted, firstUs, lastUs } of [closed, local, open]) {
    const spanMs = Math.max(0, lastUs - firstUs) / 1000
    expect(admitted).toBeLessThanOrEqual(CAPACITY + REFILL_PER_MS * spanMs)
  }
  expect(closed.degradedAdmitted).toBe(0)
  expect(open.degradedAdmitted).toBe(open.degraded)
  const outageMs = Math.max(0, local.lastDegradedMs - local.firstDegradedMs)
  // Times are read when answers arrive, hence a few milliseconds more.
  const share = CAPACITY / INSTANCES + (REFILL_PER_MS / INSTANCES) * (outageMs + 100)
  expect(local.degradedAdmitted).toBeLessThanOrEqual(share)
  for (const rule of RULES) for (const each of answers[rule].rules) expect(each).toBe(rule)
}
