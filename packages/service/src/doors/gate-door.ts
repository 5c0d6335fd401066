import type { AsyncPolicyReservation, PolicyReservation, Verdict } from 'sluice'
import { describe } from 'sluice/http'
import type { DecisionService } from '../serve/decision-service.js'
import type { Logger } from '../serve/log.js'
import type { Door } from '../server/door.js'
import type { Exchange } from '../server/exchange.js'
import { Problem } from '../server/problem.js'
import { GateReader, type GateSettings } from './gate-reader.js'

/** The longest time that a timer of Node.js can wait. */
const LONGEST_MS = 2 ** 31 - 1

/**
 * `ANY /v1/gate`: a proxy asks about a request of its client, before it forwards the request. The answer is 204, or 429 with
 * problem details (`?deny=403`: 403, for nginx). Both have the fields that tell the client its quota.
 */
export function gateDoor(service: DecisionService, settings: GateSettings, log: Pick<Logger, 'warn'>): Door {
  const gate = new Gate(service, settings, log)
  return { name: 'gate', routes: { 'ANY /v1/gate': (exchange) => gate.enter(exchange) }, settled: () => gate.settled() }
}

class Gate {
  readonly #service: DecisionService
  readonly #reader: GateReader
  readonly #log: Pick<Logger, 'warn'>
  /** Requests that wait for their turn, or give it back. */
  readonly #turns = new Set<Promise<void>>()
  #hasRefusedPeer = false

  constructor(service: DecisionService, settings: GateSettings, log: Pick<Logger, 'warn'>) {
    this.#service = service
    this.#reader = new GateReader(settings)
    this.#log = log
  }

  enter(exchange: Exchange): void | Promise<void> {
    const { request, query } = exchange
    const { policy } = this.#service
    if (!this.#reader.isTrusted(request)) throw this.#untrusted(request.socket.remoteAddress)
    const attributes = this.#reader.read(request, policy.attributes)
    const deniedStatus = deniedStatusOf(query)
    if (policy.queues) return this.#follow(enterInTurn(exchange, policy.reserve(attributes), deniedStatus))
    const verdict = policy.check(attributes)
    if (!(verdict instanceof Promise)) return answer(exchange, verdict, deniedStatus)
    return verdict.then((later) => answer(exchange, later, deniedStatus))
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#turns)
  }

  #follow(turn: Promise<void>): Promise<void> {
    this.#turns.add(turn)
    const done = () => void this.#turns.delete(turn)
    turn.then(done, done)
    return turn
  }

  /** Not a 403: nginx would take that for a denial by the policy. The log has the address once, the client never. */
  #untrusted(peer = 'unknown'): Problem {
    if (!this.#hasRefusedPeer)
      this.#log.warn({ peer }, 'a peer that is not a trusted proxy asked the gate and was refused')
    this.#hasRefusedPeer = true
    const detail =
      'the gate believes trusted proxies only: start the service with --trusted-proxies and the address of the proxy'
    return new Problem(400, 'The peer is not a trusted proxy', detail)
  }
}

/**
 * The status of a denial. All other parameters are ignored, and none may ever change a decision: Caddy and other proxies
 * add the query of the client's request to that of the gate.
 */
function deniedStatusOf(query: string): 429 | 403 {
  if (query === '') return 429
  return query === 'deny=403' || new URLSearchParams(query).get('deny') === '403' ? 403 : 429
}

/** A leaky bucket makes a request wait: the proxy is answered when it is the request's turn. */
async function enterInTurn(
  exchange: Exchange,
  reserved: PolicyReservation | Promise<AsyncPolicyReservation>,
  deniedStatus: number,
): Promise<void> {
  const reservation = await reserved
  const { verdict } = reservation
  if (await waitTurn(exchange, verdict.delayMs)) answer(exchange, verdict, deniedStatus)
  else await reservation.cancel()
}

/** Resolves to false if the proxy does not wait that long. */
function waitTurn({ response }: Exchange, delayMs: number): Promise<boolean> | boolean {
  if (response.destroyed) return false
  if (delayMs === 0) return true
  return new Promise((resolve) => {
    const onClose = () => {
      clearTimeout(timer)
      resolve(false)
    }
    const timer = setTimeout(
      () => {
        response.off('close', onClose)
        resolve(true)
      },
      Math.min(delayMs, LONGEST_MS),
    )
    response.once('close', onClose)
  })
}

function answer({ response }: Exchange, verdict: Verdict, deniedStatus: number): void {
  const { headers, body } = describe(verdict)
  if (body === undefined) response.writeHead(204, headers)
  else response.writeHead(deniedStatus, { ...headers, 'Content-Length': Buffer.byteLength(body) })
  response.end(body)
}
