import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { ioredisOptions, type RedisStore, redisStore } from 'sluice/redis'
import { UsageError } from './command.js'
import type { ExplainReport } from './explain-report.js'

const CONNECT_MS = 3_000
const DEADLINE_MS = 2_000
/** How long reading the run-time overrides may take (there may be many), and how often to check whether it is done. */
const OVERRIDES_MS = 60_000
const POLL_MS = 100

/**
 * Calls `run` with a Redis store, and closes the connection afterwards. An answer that was made without Redis is an
 * error here, because the command reports the actual state.
 */
export async function withRedisStore(
  url: string,
  prefix: string | undefined,
  run: (store: RedisStore, shown: string) => Promise<ExplainReport>,
): Promise<ExplainReport> {
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
    const report = await onceKnown(store, () => run(store, shown))
    const isDegraded = report.levels.some(({ limits = [] }) =>
      limits.some(({ decision }) => decision.degraded !== undefined),
    )
    if (isDegraded) {
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
async function onceKnown(store: RedisStore, run: () => Promise<ExplainReport>): Promise<ExplainReport> {
  const endsMs = performance.now() + OVERRIDES_MS
  for (;;) {
    const report = await run()
    const hasFailed = Object.values(store.stats().degraded).some((times) => times > 0)
    if (!lacksOverrides(report) || hasFailed || performance.now() > endsMs) return report
    await pause(POLL_MS)
  }
}

function lacksOverrides({ levels }: ExplainReport): boolean {
  return levels.some(({ degraded }) => degraded === 'overrides')
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
