import { Agent, type ClientRequest, request } from 'node:http'
import { demoTraffic, type Random } from './demo-traffic.js'

const TICK_MS = 100
/** After a pause of the process, no more is caught up than this. */
const LONGEST_SPAN_MS = 500

interface DemoRunOptions {
  /** Where the service listens. */
  readonly url: string
  /** Are there several workers? Then each batch has a connection of its own, so that every worker gets some. */
  readonly hasWorkers: boolean
  /** Hears each change, and the state at the start. */
  readonly tell: (isRunning: boolean) => void
  readonly random?: Random
}

/**
 * Sends the demo's requests to the service over its own port, ten times a second: so they take the way of all requests, and
 * reach every worker. One batch is under way at a time. A batch that fails is dropped.
 */
export class DemoRun {
  readonly #url: URL
  readonly #agent: Agent
  readonly #tell: (isRunning: boolean) => void
  readonly #random: Random
  readonly #startMs = performance.now()
  #timer: NodeJS.Timeout | undefined
  #underWay: ClientRequest | undefined
  #lastMs = 0
  #isClosed = false

  /** It runs at once. */
  constructor({ url, hasWorkers, tell, random = Math.random }: DemoRunOptions) {
    this.#url = reachable(url, '/v1/check/batch')
    this.#agent = new Agent({ keepAlive: !hasWorkers, maxSockets: 1 })
    this.#tell = tell
    this.#random = random
    this.run(true)
  }

  /** Begins or ends the traffic. After `close` it does nothing: a request to begin may come while the service shuts down. */
  run(isRunning: boolean): void {
    if (this.#isClosed) return
    if (isRunning && this.#timer === undefined) {
      this.#lastMs = performance.now()
      this.#timer = setInterval(() => this.#tick(), TICK_MS)
    } else if (!isRunning) this.#stop()
    this.#tell(isRunning)
  }

  /** Ends the traffic and its connection, and tells nothing. */
  close(): void {
    this.#isClosed = true
    this.#stop()
    this.#underWay?.destroy()
    this.#agent.destroy()
  }

  #stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #tick(): void {
    if (this.#underWay !== undefined) return
    const nowMs = performance.now()
    const spanMs = Math.min(nowMs - this.#lastMs, LONGEST_SPAN_MS)
    this.#lastMs = nowMs
    const checks = demoTraffic(nowMs - this.#startMs, spanMs, this.#random)
    if (checks.length > 0) this.#send(JSON.stringify({ checks }))
  }

  #send(body: string): void {
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }
    const asked = request(this.#url, { method: 'POST', agent: this.#agent, headers }, (response) => response.resume())
    this.#underWay = asked
    asked.on('error', () => {})
    asked.on('close', () => {
      this.#underWay = undefined
    })
    asked.end(body)
  }
}

/** The address for a client on this machine: a service may listen on all addresses. */
export function reachable(url: string, path: string): URL {
  const address = new URL(path, url)
  if (address.hostname === '0.0.0.0') address.hostname = '127.0.0.1'
  if (address.hostname === '[::]') address.hostname = '[::1]'
  return address
}
