import { readPolicyText } from '../policy-file/load-policy-file.js'
import { type FindFaults, type PolicyFile, readPolicyFile } from '../policy-file/parse-policy-file.js'
import { PolicyFileError, type PolicyFileProblem, policyFileErrorOf } from '../policy-file/policy-file-error.js'
import type { Log } from './log.js'
import { watchPath } from './watch-path.js'

/** The text of a policy. The ending of the file's name tells YAML from JSON. */
export type PolicyText = Pick<PolicyFile, 'file' | 'text'>

/** A text that cannot be used, and why. The text is empty if the file could not be read. */
export interface RefusedPolicy extends PolicyText {
  readonly problems: readonly PolicyFileProblem[]
}

/** The longest list of problems in one line of the log, and in what the service tells. */
const MOST_LOGGED = 20
const MOST_TOLD = 200

/** Puts a policy in force. It may throw: then the policy does not count as good. */
export type UsePolicy = (file: PolicyFile) => void

/** Hears of a file that cannot be used. */
export type RefusePolicy = (refused: RefusedPolicy) => void

/**
 * The policy file of a service. It hears of changes, reads the file again, and hands on policies that can be used. A bad
 * file is logged with every line and column; the last good policy stays in force.
 */
export class PolicySource {
  readonly #path: string
  readonly #log: Log
  readonly #findFaults: FindFaults
  #use: UsePolicy = () => {}
  #refuse: RefusePolicy = () => {}
  #stopWatching: (() => void) | undefined
  #file: PolicyFile
  /** The text that was read last, good or bad; `undefined` if the file could not be read. */
  #seen: string | undefined
  /** The reading that is under way. */
  #reading: Promise<void> | undefined
  #isAgainDue = false

  private constructor(path: string, text: string, log: Log, findFaults: FindFaults) {
    this.#path = path
    this.#log = log
    this.#findFaults = findFaults
    this.#file = readPolicyFile(text, path, findFaults)
    this.#seen = text
  }

  /** Reads the file. Rejects with a `PolicyFileError` if it is bad. `findFaults` says what else makes a policy bad. */
  static async open(path: string, log: Log, findFaults: FindFaults): Promise<PolicySource> {
    return new PolicySource(path, await readText(path), log, findFaults)
  }

  /** The last good policy. */
  get file(): PolicyFile {
    return this.#file
  }

  /**
   * Calls `use` with each further policy, until `close`: when the file changes, and after `reload`. Calls `refuse` if the file
   * cannot be used.
   */
  watch(use: UsePolicy, refuse: RefusePolicy = () => {}): void {
    this.#use = use
    this.#refuse = refuse
    this.#stopWatching ??= watchPath(this.#path, () => void this.#read(false))
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
      const text = await readText(this.#path)
      this.#seen = text
      if (text === seen && !isAsked) return
      const file = readPolicyFile(text, this.#path, this.#findFaults)
      this.#use(file)
      this.#file = file
      this.#log.info({ file: this.#path, levels: file.policy.levels.length }, 'another policy is in force')
    } catch (error) {
      const { problems } = this.#logBad(error)
      this.#refuse({ file: this.#path, text: this.#seen ?? '', problems: problems.slice(0, MOST_TOLD) })
    }
  }

  #logBad(error: unknown): Pick<RefusedPolicy, 'problems'> {
    const message = 'the policy file cannot be used; the last good policy stays in force'
    if (!(error instanceof PolicyFileError)) {
      this.#log.error({ file: this.#path, err: error }, message)
      return { problems: [{ line: 1, column: 1, message: (error as Error).message }] }
    }
    const { problems } = error
    const logged = problems.slice(0, MOST_LOGGED)
    this.#log.error({ file: this.#path, problems: logged, problemCount: problems.length }, message)
    return error
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readPolicyText(path)
  } catch (error) {
    throw policyFileErrorOf(path, error)
  }
}
