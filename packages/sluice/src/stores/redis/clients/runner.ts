/** What the store needs of a client: to run a script, once. */
export interface ScriptRunner {
  /** Do keys live in slots, so that one call may only name keys of one slot? */
  readonly cluster: boolean
  /** Runs a script that the server knows by its SHA-1. */
  evalSha(sha: string, keys: readonly string[], args: readonly string[]): Promise<unknown>
  /** Runs a script and lets the server remember it. */
  eval(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown>
  /** Options of the client with which a call may be sent twice or wait for ever, and what they should be. */
  readonly unsafeOptions: readonly string[]
  /** What `sluice/redis` calls the options that are safe. */
  readonly safeOptions: string
}
