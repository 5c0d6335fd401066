import {
  type AsyncPolicy,
  type AsyncStore,
  createLimiter,
  createPolicy,
  type Policy,
  type SyncStore,
  systemClock,
  tokenBucket,
} from 'sluice'
import { LeasedStore } from 'sluice/leased'
import type { EnvoyHeaders } from '../envoy/envoy-headers.js'
import { RulesDecider } from '../envoy-rules/rules-decider.js'
import { UncountedHits } from '../envoy-rules/uncounted-hits.js'
import { KeyMask } from '../live/key-mask.js'
import { ServiceRecorder } from '../recorder/service-recorder.js'
import type { FleetFacts } from './fleet-worker.js'
import type { Log } from './log.js'
import type { OpenedStore } from './open-store.js'
import type { RefusedPolicy } from './policy-source.js'
import type { ServedPolicy } from './served-policy.js'

/** Whether a service should get requests now. */
export interface Readiness {
  readonly isReady: boolean
  /** What is wrong, also if the service can answer all the same. */
  readonly reason?: string
}

/** The name of the limiter that `/readyz` asks. No level of a policy can have it: those names contain the policy's. */
const READY = '#readyz'

const UNCOUNTED =
  'clients look at a rule and count after the response, and hits that exceed what is left count for nothing: so the rule limits little'

/** The policy in force and the store that it decides on. Doors ask it; it knows nothing of HTTP. */
export class DecisionService {
  readonly store: SyncStore | AsyncStore
  /** Where idempotency keys of refunds are claimed. */
  readonly claims: SyncStore | AsyncStore
  /** Counts what the service does, from its start to `close`. */
  readonly recorder: ServiceRecorder
  /** Masks keys and attributes for clients without the admin token. */
  readonly keyMask: KeyMask
  /** Begins or ends the demo. Absent from a service that has none. */
  switchDemo: ((isRunning: boolean) => void) | undefined
  readonly #ready: () => unknown
  #policy: Policy | AsyncPolicy
  #file: ServedPolicy
  #refused: RefusedPolicy | undefined
  #hasCostAttributes: boolean
  readonly #closing = new AbortController()
  /** The store has answered once, so its address and password are right. */
  #hasAnswered = false

  /** `fleet`: what one of several workers must know. */
  constructor({ store, claims }: Pick<OpenedStore, 'store' | 'claims'>, file: ServedPolicy, fleet?: FleetFacts) {
    this.keyMask = new KeyMask(fleet?.maskSecret)
    this.store = store
    this.claims = claims
    this.#file = file
    this.#policy = this.#policyOf(file)
    this.#hasCostAttributes = hasCostAttributes(file)
    const limiter = createLimiter({
      name: READY,
      limit: tokenBucket({ capacity: 1_000_000, refill: '1000000/s' }),
      // Units in hand say nothing about Redis.
      store: store instanceof LeasedStore ? store.lending : store,
    })
    this.#ready = () => limiter.tryAcquire(READY)
    this.recorder = new ServiceRecorder(store, file, fleet !== undefined)
  }

  /** The policy in force now. Use one reference for all parts of a request: a reload may replace it between two reads. */
  get policy(): Policy | AsyncPolicy {
    return this.#policy
  }

  /** Does a level read its cost from an attribute? Then a text may be a wrong value. */
  get hasCostAttributes(): boolean {
    return this.#hasCostAttributes
  }

  /** The data of the policy in force. */
  get file(): ServedPolicy {
    return this.#file
  }

  /** The text that was read after the one in force, if it is bad. */
  get refused(): RefusedPolicy | undefined {
    return this.#refused
  }

  /** Aborted when the service stops accepting requests. A door that streams ends its answers then. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** The service stops accepting requests: `/readyz` says so, and streams end. */
  beginClosing(): void {
    this.#closing.abort()
  }

  /** Puts another policy in force. States stay, because they are kept under the names of policy and level. */
  use(file: ServedPolicy): void {
    this.#policy = this.#policyOf(file)
    this.#file = file
    this.#refused = undefined
    this.#hasCostAttributes = hasCostAttributes(file)
    this.recorder.use(file)
  }

  /** The policy in force stays, because the text that was read after it is bad. */
  refuse(refused: RefusedPolicy): void {
    this.#refused = refused
    this.recorder.refuse(refused.problems.length)
  }

  /** Decides calls of Envoy by the rules in force. Only for a service that was started with rules. */
  rulesDecider(headers: EnvoyHeaders, log: Pick<Log, 'warn'>): RulesDecider {
    const { rules } = this.recorder
    const uncounted = new UncountedHits((rule) => log.warn({ rule, advice: 'count_over_limit: true' }, UNCOUNTED))
    return new RulesDecider({
      inForce: () => ({ rules: this.#file.envoy, policy: this.#policy }),
      nowMs: () => systemClock.now(),
      headers,
      decided: (outcomes, request, isTaken) => {
        rules.decided(outcomes, request, isTaken)
        uncounted.decided(outcomes)
      },
    })
  }

  /** Ends what runs in the background. The store belongs to the caller. */
  close(): void {
    this.recorder.close()
  }

  /**
   * Makes a decision on the store, and says whether the service should get requests.
   *
   * It should not before the store has answered once: the address may be wrong. After that it should also while the store
   * is away, unless the rule for that time is `closed`: the service answers by its rule. If a lost Redis took every service
   * out of its load balancer, the rule `open` would mean nothing.
   */
  async readiness(): Promise<Readiness> {
    if (this.closing.aborted) return { isReady: false, reason: 'the service is shutting down' }
    try {
      const { degraded } = (await this.#ready()) as { degraded?: string }
      if (degraded === undefined) this.#hasAnswered = true
      else
        return {
          isReady: this.#hasAnswered && degraded !== 'closed',
          reason: `the store does not answer; decisions are made by the rule '${degraded}'`,
        }
      return { isReady: true }
    } catch (error) {
      return { isReady: false, reason: `the store does not answer: ${(error as Error).message}` }
    }
  }

  #policyOf({ policy }: ServedPolicy): Policy | AsyncPolicy {
    return createPolicy({ ...policy, name: policy.name ?? 'default', store: this.store })
  }
}

function hasCostAttributes({ policy }: ServedPolicy): boolean {
  return policy.levels.some(({ cost }) => typeof cost === 'string')
}
