import { readPolicyText } from '../policy-file/load-policy-file.js'
import { type FindFaults, type PolicyFile, readPolicyFile } from '../policy-file/parse-policy-file.js'
import { PolicyFileError, policyFileErrorOf } from '../policy-file/policy-file-error.js'
import type { Log } from './log.js'
import { watchPath } from './watch-path.js'

/** A policy and the text that it was read from. */
export interface PolicyText {
  /** The file's name in messages. Its ending tells YAML from JSON. */
  readonly file: string
  readonly text: string
}

/** The longest list of problems in one line of the log. */
const MOST_PROBLEMS = 20

/** Puts a policy in force. It may throw: then the policy does not count as good. */
export type UsePolicy = (file: PolicyFile, text: PolicyText) => void

/**
 * The policy file of a service. It hears of changes, reads the file again, and hands on policies that can be used. A bad
 * file is logged with every line and column; the last good policy stays in force.
 */
export class PolicySource {
  readonly #path: string
  readonly #log: Log
  readonly #findFaults: FindFaults
  #use: UsePolicy = () => {}
  #refuse: () => void = () => {}
  #stopWatching: (() => void) | undefined
  #file: PolicyFile
  #text: PolicyText
  /** The text that was read last, good or bad. */
  #seen: string
  /** The reading that is under way. */
  #reading: Promise<void> | undefined
  #isAgainDue = false

  private constructor(path: string, text: string, log: Log, findFaults: FindFaults) {
    this.#path = path
    this.#log = log
    this.#findFaults = findFaults
    this.#file = readPolicyFile(text, path, findFaults)
    this.#text = { file: path, text }
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

  /** The text of the last good policy. */
  get text(): PolicyText {
    return this.#text
  }

  /**
   * Calls `use` with each further policy, until `close`: when the file changes, and after `reload`. Calls `refuse` if the file
   * cannot be used.
   */
  watch(use: UsePolicy, refuse: () => void = () => {}): void {
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
    try {
      const text = await readText(this.#path)
      if (text === this.#seen && !isAsked) return
      this.#seen = text
      const file = readPolicyFile(text, this.#path, this.#findFaults)
      const named = { file: this.#path, text }
      this.#use(file, named)
      this.#file = file
      this.#text = named
      this.#log.info({ file: this.#path, levels: file.policy.levels.length }, 'another policy is in force')
    } catch (error) {
      this.#refuse()
      this.#logBad(error)
    }
  }

  #logBad(error: unknown): void {
    const message = 'the policy file cannot be used; the last good policy stays in force'
    if (!(error instanceof PolicyFileError)) {
      this.#log.error({ file: this.#path, err: error }, message)
      return
    }
    const problems = error.problems.slice(0, MOST_PROBLEMS)
    this.#log.error({ file: this.#path, problems, problemCount: error.problems.length }, message)
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readPolicyText(path)
  } catch (error) {
    throw policyFileErrorOf(path, error)
  }
}
