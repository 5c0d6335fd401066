/** A client as the store uses it: it runs a script, once. */
export interface ScriptRunner {
  /** Is it a client of a cluster? Then all keys of one call must share a hash slot. */
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
  /** The options that should change, with their safe values: as they are, a call may be sent twice or wait for ever. */
  readonly unsafeOptions: readonly string[]
  /** The name of the safe options in `sluice/redis`. */
  readonly safeOptions: string
}

/** An open connection of a client. */
export interface Connection {
  /** Identifies this connection: the client's next connection has another id. */
  readonly id: object
  /** Is its handshake over? Until then the client itself refuses calls. */
  readonly isReady: boolean
  /** How many bytes have arrived on it; 0 if the client does not show that. */
  readonly bytesRead: number
  /** Ends it at once, without telling the server. The client connects again by its own strategy. */
  drop(): void
}
