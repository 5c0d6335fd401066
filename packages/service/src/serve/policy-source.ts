import type { FindFaults } from '../policy-file/parse-policy-file.js'
import { PolicyFileError, type PolicyFileProblem } from '../policy-file/policy-file-error.js'
import type { Log } from './log.js'
import { type PolicyPlace, type PolicyText, parseServed, type ServedPolicy } from './served-policy.js'

/** A text that cannot be used, and why. The text is empty if the file could not be read. */
export interface RefusedPolicy extends PolicyText {
  readonly problems: readonly PolicyFileProblem[]
}

/** The longest list of problems in one line of the log, and in what the service tells. */
const MOST_LOGGED = 20
const MOST_TOLD = 200

/** Puts a policy in force. It may throw: then the policy does not count as good. */
export type UsePolicy = (file: ServedPolicy) => void

/** Hears of a file that cannot be used. */
export type RefusePolicy = (refused: RefusedPolicy) => void

/**
 * The policy of a service. It hears of changes, reads the file or the files again, and hands on policies that can be used. A bad
 * file is logged with every line and column; the last good policy stays in force.
 */
export class PolicySource {
  readonly #place: PolicyPlace
  readonly #log: Log
  readonly #findFaults: FindFaults
  #use: UsePolicy = () => {}
  #refuse: RefusePolicy = () => {}
  #stopWatching: (() => void) | undefined
  #file: ServedPolicy
  /** The text that was read last, good or bad; `undefined` if the file could not be read. */
  #seen: PolicyText | undefined
  /** The reading that is under way. */
  #reading: Promise<void> | undefined
  #isAgainDue = false

  private constructor(place: PolicyPlace, read: PolicyText, log: Log, findFaults: FindFaults) {
    this.#place = place
    this.#log = log
    this.#findFaults = findFaults
    this.#file = parseServed(read, findFaults)
    this.#seen = read
  }

  /** Reads the file. Rejects with a `PolicyFileError` if it is bad. `findFaults` says what else makes a policy bad. */
  static async open(place: PolicyPlace, log: Log, findFaults: FindFaults): Promise<PolicySource> {
    return new PolicySource(place, await place.read(), log, findFaults)
  }

  /** The last good policy. */
  get file(): ServedPolicy {
    return this.#file
  }

  /**
   * Calls `use` with each further policy, until `close`: when the file changes, and after `reload`. Calls `refuse` if the file
   * cannot be used.
   */
  watch(use: UsePolicy, refuse: RefusePolicy = () => {}): void {
    this.#use = use
    this.#refuse = refuse
    this.#stopWatching ??= this.#place.watch(() => void this.#read(false))
  }

  /** Reads the file now, also if it has not changed. Never rejects. */
  reload(): Promise<void> {
    return this.#read(true)
  }

  close(): void {
    this.#stopWatching?.()
    this.#stopWatching = undefined
  }

  /** One reading at a time. A call during a reading is answered by one more reading after it. */
  #read(isAsked: boolean): Promise<void> {
    if (this.#reading !== undefined) {
      this.#isAgainDue ||= isAsked
      return this.#reading
    }
    this.#reading = this.#readOnce(isAsked).finally(() => {
      this.#reading = undefined
      if (!this.#isAgainDue) return undefined
      this.#isAgainDue = false
      return this.#read(true)
    })
    return this.#reading
  }

  async #readOnce(isAsked: boolean): Promise<void> {
    const seen = this.#seen
    // If the file cannot be read, whatever it has afterwards is news.
    this.#seen = undefined
    try {
      const read = await this.#place.read()
      this.#seen = read
      if (read.text === seen?.text && !isAsked) return
      const file = parseServed(read, this.#findFaults)
      this.#use(file)
      this.#file = file
      this.#log.info({ file: this.#place.path, levels: file.policy.levels.length }, 'another policy is in force')
    } catch (error) {
      const { problems } = this.#logBad(error)
      const { path: file } = this.#place
      const read: PolicyText = this.#seen ?? { file, text: '' }
      this.#refuse({ ...read, problems: problems.slice(0, MOST_TOLD) })
    }
  }

  #logBad(error: unknown): Pick<RefusedPolicy, 'problems'> {
    const message = 'the policy file cannot be used; the last good policy stays in force'
    if (!(error instanceof PolicyFileError)) {
      this.#log.error({ file: this.#place.path, err: error }, message)
      return { problems: [{ line: 1, column: 1, message: (error as Error).message }] }
    }
    const { problems } = error
    const logged = problems.slice(0, MOST_LOGGED)
    this.#log.error({ file: this.#place.path, problems: logged, problemCount: problems.length }, message)
    return error
  }
}
