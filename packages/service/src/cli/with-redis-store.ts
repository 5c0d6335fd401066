import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Degraded } from 'sluice'
import { ioredisOptions, type RedisStore, redisStore } from 'sluice/redis'
import { UsageError } from './command.js'

const CONNECT_MS = 3_000
const DEADLINE_MS = 2_000
/** How long reading the run-time overrides may take (there may be many), and how often to check whether it is done. */
const OVERRIDES_MS = 60_000
const POLL_MS = 100

/** How a report about a store is made. */
interface RedisReport<Report> {
  readonly run: (store: RedisStore, shown: string) => Promise<Report>
  /** How parts of the report were made without Redis, or without the run-time overrides. */
  readonly degradedOf: (report: Report) => readonly Degraded[]
}

/**
 * Calls `run` with a Redis store, and closes the connection afterwards. An answer that was made without Redis is an
 * error here, because the command reports the actual state.
 */
export async function withRedisStore<Report>(
  url: string,
  prefix: string | undefined,
  { run, degradedOf }: RedisReport<Report>,
): Promise<Report> {
  const shown = shownUrl(url)
  const client = new Redis(url, {
    ...ioredisOptions,
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    retryStrategy: () => null,
  })
  let reason = ''
  client.on('error', (error: Error) => {
    reason ||= error.message || (error as NodeJS.ErrnoException).code || ''
  })
  try {
    const store = redisStore(client, { deadlineMs: DEADLINE_MS, ...(prefix !== undefined && { prefix }) })
    await within(CONNECT_MS, client.connect()).catch((error: Error) => {
      throw new UsageError(`Redis at ${shown} cannot be reached: ${reason || error.message}`, 1)
    })
    const lacksOverrides = (made: Report) => degradedOf(made).includes('overrides')
    const report = await onceKnown(store, () => run(store, shown), lacksOverrides)
    const degraded = degradedOf(report)
    if (degraded.some((each) => each !== 'overrides')) {
      throw new UsageError(`Redis at ${shown} did not answer as it should${reason && `: ${reason}`}`, 1)
    }
    if (lacksOverrides(report)) {
      throw new UsageError(
        `Redis at ${shown} did not report the policy's run-time overrides${reason && `: ${reason}`}`,
        1,
      )
    }
    return report
  } finally {
    client.disconnect()
  }
}

/** Repeats `run` until all overrides are known: the store reads them in the background. Gives up if reading fails. */
async function onceKnown<Report>(
  store: RedisStore,
  run: () => Promise<Report>,
  lacksOverrides: (report: Report) => boolean,
): Promise<Report> {
  const endsMs = performance.now() + OVERRIDES_MS
  for (;;) {
    const report = await run()
    const hasFailed = Object.values(store.stats().degraded).some((times) => times > 0)
    if (!lacksOverrides(report) || hasFailed || performance.now() > endsMs) return report
    await pause(POLL_MS)
  }
}

/** The address without user and password. */
function shownUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['redis:', 'rediss:'].includes(url.protocol) || url.hostname === '') {
    throw new UsageError('--store must be the address of a Redis, such as redis://localhost:6379')
  }
  return `${url.protocol}//${url.host}${url.pathname === '/' ? '' : url.pathname}`
}

/** Rejects after `ms`: a server may accept the connection and then stay silent. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
