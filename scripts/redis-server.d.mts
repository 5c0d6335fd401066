/** A Redis server of one's own. */
export interface RedisServer {
  readonly port: number
  readonly pid: number
  readonly url: string
  signal(signal: NodeJS.Signals): void
  stop(): Promise<void>
}

export function startRedis(options?: { port?: number; args?: readonly string[]; folder?: string }): Promise<RedisServer>
export function startSentinel(lines: readonly string[]): Promise<RedisServer>
export function freePort(): Promise<number>
