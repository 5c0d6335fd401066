import { type LoadAnswer, LoadConnection, type LoadListener } from './load-connection.js'
import type { LoadQuestion } from './load-requests.js'
import { LoadRequests } from './load-requests.js'
import { type LoadReport, LoadResult } from './load-result.js'

/** The settings of a load. */
export interface LoadOptions extends LoadQuestion {
  readonly url: string
  readonly connections: number
  readonly durationMs: number
  /** How long requests are sent before the measurement begins. */
  readonly warmUpMs: number
  /** Decisions a second; `undefined` sends as fast as answers come. */
  readonly rate: number | undefined
}

/** How long requests may take that were due before the end. */
const DRAIN_MS = 5_000
const RECONNECT_MS = 100
/** A timer wakes up to 1 ms late, so a request that is due sooner is awaited without one. */
const TIMER_MS = 2

/**
 * Sends requests to a service and measures the answers.
 *
 * At a rate, request i is due at start + i · interval, whether or not earlier ones are answered. If every connection is busy
 * then, the request waits, and its latency counts from the moment when it was due. So a service that stops for a second
 * shows a second of latency for every request of that second, and not for one alone ("coordinated omission").
 */
export class LoadRun implements LoadListener {
  readonly result = new LoadResult()
  readonly #options: LoadOptions
  readonly #requests: LoadRequests
  readonly #open = new Set<LoadConnection>()
  readonly #idle: LoadConnection[] = []
  readonly #intervalMs: number | undefined
  readonly #startMs: number
  readonly #measuredFromMs: number
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #done: Promise<void>
  #finish!: () => void
  #endMs: number
  #lastAnswerMs = 0
  /** The number of the next request at a rate. */
  #next = 0
  #isOver = false

  constructor(options: LoadOptions) {
    this.#options = options
    this.#requests = new LoadRequests(options.url, options)
    this.#intervalMs = options.rate === undefined ? undefined : (1_000 * options.batch) / options.rate
    this.#startMs = performance.now()
    this.#measuredFromMs = this.#startMs + options.warmUpMs
    this.#endMs = this.#measuredFromMs + options.durationMs
    this.#done = new Promise((resolve) => {
      this.#finish = resolve
    })
  }

  /** How long the measurement has run. */
  get measuredMs(): number {
    return Math.min(performance.now(), this.#endMs) - this.#measuredFromMs
  }

  /** Runs the load. Resolves with the report when every request is answered or given up. */
  async run(): Promise<LoadReport> {
    const before = process.cpuUsage()
    for (let i = 0; i < this.#options.connections; i++) this.#connect()
    this.#after(this.#endMs - this.#startMs, () => this.stop())
    if (this.#intervalMs !== undefined) this.#tick()
    await this.#done
    const { user, system } = process.cpuUsage(before)
    return this.#report((user + system) / 1_000 / (performance.now() - this.#startMs))
  }

  /** Sends nothing more that is not due already, and ends when the answers are there. */
  stop(): void {
    this.#endMs = Math.min(this.#endMs, performance.now())
    this.#after(DRAIN_MS, () => this.#end())
    this.#endIfAnswered()
  }

  ready(connection: LoadConnection): void {
    const dueMs = this.#nextDueMs()
    if (dueMs === undefined) {
      this.#idle.push(connection)
      this.#endIfAnswered()
    } else connection.send(this.#requests.next(), dueMs)
  }

  answered(connection: LoadConnection, { status, allowed, denied, text }: LoadAnswer): void {
    const nowMs = performance.now()
    const { dueMs = nowMs } = connection
    connection.dueMs = undefined
    if (nowMs >= this.#measuredFromMs) {
      this.#lastAnswerMs = nowMs
      if (status === 200 && allowed + denied === this.#options.batch) {
        this.result.answered(allowed, denied)
        if (dueMs >= this.#measuredFromMs) this.result.took(nowMs - dueMs)
      } else this.result.failedBy(status === 200 ? 'status 200 without a verdict' : `status ${status}${detailOf(text)}`)
    }
    this.ready(connection)
  }

  lost(connection: LoadConnection, reason: string): void {
    this.#open.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
    if (connection.dueMs !== undefined) this.result.failedBy(reason)
    if (performance.now() < this.#endMs) this.#after(RECONNECT_MS, () => this.#connect())
    else this.#endIfAnswered()
  }

  #connect(): void {
    this.#open.add(new LoadConnection(this.#options.url, this))
  }

  /** When the request that a connection may send now was due; `undefined` if none is. */
  #nextDueMs(): number | undefined {
    const nowMs = performance.now()
    if (this.#intervalMs === undefined) return nowMs < this.#endMs ? nowMs : undefined
    const dueMs = this.#startMs + this.#next * this.#intervalMs
    if (dueMs > nowMs || dueMs >= this.#endMs) return undefined
    this.#next++
    return dueMs
  }

  /** Sends the requests that have become due while connections are idle, and comes back for the next one. */
  readonly #tick = () => {
    if (this.#isOver) return
    while (this.#idle.length > 0) {
      const dueMs = this.#nextDueMs()
      if (dueMs === undefined) break
      if (dueMs >= this.#measuredFromMs) this.result.sentLate(performance.now() - dueMs)
      this.#idle.pop()?.send(this.#requests.next(), dueMs)
    }
    const waitMs = this.#startMs + this.#next * (this.#intervalMs as number) - performance.now()
    if (performance.now() >= this.#endMs) this.#endIfAnswered()
    else if (waitMs > TIMER_MS) this.#after(waitMs - TIMER_MS, this.#tick)
    else setImmediate(this.#tick)
  }

  #endIfAnswered(): void {
    if (performance.now() < this.#endMs) return
    const isBehind = this.#intervalMs !== undefined && this.#startMs + this.#next * this.#intervalMs < this.#endMs
    const isAnswered = ![...this.#open].some(({ dueMs }) => dueMs !== undefined)
    if (isAnswered && (!isBehind || this.#open.size === 0)) this.#end()
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    const nowMs = performance.now()
    for (const { dueMs } of this.#open) if (dueMs !== undefined) this.#giveUp(dueMs, nowMs)
    if (this.#intervalMs !== undefined) {
      for (; this.#startMs + this.#next * this.#intervalMs < this.#endMs; this.#next++)
        this.#giveUp(this.#startMs + this.#next * this.#intervalMs, nowMs)
    }
    for (const timer of this.#timers) clearTimeout(timer)
    for (const connection of this.#open) connection.close()
    this.#finish()
  }

  #giveUp(dueMs: number, nowMs: number): void {
    if (dueMs >= this.#measuredFromMs) this.result.gaveUp(nowMs - dueMs)
  }

  #after(ms: number, then: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      then()
    }, ms)
    this.#timers.add(timer)
  }

  #report(clientCpu: number): LoadReport {
    const { url, connections, batch, rate = null } = this.#options
    const { requests, allowed, denied, failed, unanswered } = this.result
    const elapsedMs = Math.max(0, this.#lastAnswerMs - this.#measuredFromMs)
    const decisions = allowed + denied
    return {
      url,
      connections,
      batch,
      rate,
      elapsedMs: Math.round(elapsedMs),
      requests,
      decisions,
      decisionsPerSecond: elapsedMs > 0 ? Math.round((decisions * 1_000) / elapsedMs) : 0,
      allowed,
      denied,
      failed: Object.fromEntries(failed),
      unanswered,
      latencyMs: this.result.latency(),
      clientDelayMs: rate === null ? null : this.result.clientDelayMs(),
      clientCpu: Math.round(clientCpu * 100) / 100,
    }
  }
}

/** The `detail` of a problem, which says what is wrong with the request. */
function detailOf(text: string): string {
  const detail = /"detail":"((?:[^"\\]|\\.){1,200})/.exec(text)
  return detail === null ? '' : `: ${detail[1].replaceAll('\\"', '"')}`
}
