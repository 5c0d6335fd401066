import {
  type AsyncPolicy,
  type AsyncStore,
  createLimiter,
  createPolicy,
  type Policy,
  type SyncStore,
  tokenBucket,
} from 'sluice'
import type { PolicyFile } from '../policy-file/parse-policy-file.js'
import { ServiceRecorder } from '../recorder/service-recorder.js'

/** The name of the limiter that `/readyz` asks. No level of a policy can have it: those names contain the policy's. */
const READY = '#readyz'

/** The policy in force and the store that it decides on. Doors ask it; it knows nothing of HTTP. */
export class DecisionService {
  readonly store: SyncStore | AsyncStore
  /** Counts what the service does, from its start to `close`. */
  readonly recorder: ServiceRecorder
  readonly #ready: () => unknown
  #policy: Policy | AsyncPolicy
  #file: PolicyFile
  /** Set when the service stops accepting requests. */
  isClosing = false

  constructor(store: SyncStore | AsyncStore, file: PolicyFile) {
    this.store = store
    this.#file = file
    this.#policy = this.#policyOf(file)
    const limiter = createLimiter({
      name: READY,
      limit: tokenBucket({ capacity: 1_000_000, refill: '1000000/s' }),
      store,
    })
    this.#ready = () => limiter.tryAcquire(READY)
    this.recorder = new ServiceRecorder(store)
  }

  /** The policy in force now. Use one reference for all parts of a request: a reload may replace it between two reads. */
  get policy(): Policy | AsyncPolicy {
    return this.#policy
  }

  /** The data of the policy in force. */
  get file(): PolicyFile {
    return this.#file
  }

  /** Puts another policy in force. States stay, because they are kept under the names of policy and level. */
  use(file: PolicyFile): void {
    this.#policy = this.#policyOf(file)
    this.#file = file
    this.recorder.reloaded('loaded')
  }

  /** Ends what runs in the background. The store belongs to the caller. */
  close(): void {
    this.recorder.close()
  }

  /** Makes a decision on the store. Returns why the service should get no requests now, or nothing if it should. */
  async whyNotReady(): Promise<string | undefined> {
    if (this.isClosing) return 'the service is shutting down'
    try {
      const { degraded } = (await this.#ready()) as { degraded?: string }
      return degraded === undefined
        ? undefined
        : `the store does not answer; decisions are made by the rule '${degraded}'`
    } catch (error) {
      return `the store does not answer: ${(error as Error).message}`
    }
  }

  #policyOf({ policy }: PolicyFile): Policy | AsyncPolicy {
    return createPolicy({ ...policy, name: policy.name ?? 'default', store: this.store })
  }
}
