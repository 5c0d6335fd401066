/** What the store needs of a client: to run a script, once. */
export interface ScriptRunner {
  /** Do keys live in slots, so that one call may only name keys of one slot? */
  readonly cluster: boolean
  /** Runs a script that the server knows by its SHA-1. */
  evalSha(sha: string, keys: readonly string[], args: readonly string[]): Promise<unknown>
  /** Runs a script and lets the server remember it. */
  eval(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown>
  /**
   * The open connections over which a call for `key` may be waiting. It leaves out connections that the caller must not
   * drop: those of a client that was closed, or that would not connect again. Absent where a client does not show any.
   */
  connections?(key: string): readonly Connection[]
  /** Options of the client with which a call may be sent twice or wait for ever, and what they should be. */
  readonly unsafeOptions: readonly string[]
  /** What `sluice/redis` calls the options that are safe. */
  readonly safeOptions: string
}

/** An open connection of a client. */
export interface Connection {
  /** Stands for this connection: the client's next connection has another. */
  readonly id: object
  /** Is its handshake over? Until then the client itself refuses calls. */
  readonly isReady: boolean
  /** How much Redis has said over it; 0 if the client does not show it. */
  readonly bytesRead: number
  /** Ends it at once, without a word to the server. The client connects again by its own strategy. */
  drop(): void
}
