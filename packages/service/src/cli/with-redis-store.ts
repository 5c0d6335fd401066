import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { ioredisOptions, type RedisStore, redisStore } from 'sluice/redis'
import type { ExplainReport } from './explain-report.js'
import { UsageError } from './usage-error.js'

const CONNECT_MS = 3_000
const DEADLINE_MS = 2_000
/** How long the policy's run-time overrides may take, which may be many, and how often to look whether they are there. */
const OVERRIDES_MS = 60_000
const LOOK_MS = 100

/**
 * Runs something on a Redis store and closes the connection. What would be answered without Redis is an error here:
 * somebody who asks how things stand must not be told how they might.
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
        `Redis at ${shown} did not tell the policy's run-time overrides${reason && `: ${reason}`}`,
        1,
      )
    }
    return report
  } finally {
    client.disconnect()
  }
}

/** What is found with all overrides known: reading goes on between tries. Gives up when reading fails. */
async function onceKnown(store: RedisStore, run: () => Promise<ExplainReport>): Promise<ExplainReport> {
  const endsMs = performance.now() + OVERRIDES_MS
  for (;;) {
    const report = await run()
    const hasFailed = Object.values(store.stats().degraded).some((times) => times > 0)
    if (!lacksOverrides(report) || hasFailed || performance.now() > endsMs) return report
    await pause(LOOK_MS)
  }
}

function lacksOverrides({ levels }: ExplainReport): boolean {
  return levels.some(({ degraded }) => degraded === 'overrides')
}

/** The address without what is secret in it. */
function shownUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['redis:', 'rediss:'].includes(url.protocol) || url.hostname === '') {
    throw new UsageError('--store must be the address of a Redis, such as redis://localhost:6379')
  }
  return `${url.protocol}//${url.host}${url.pathname === '/' ? '' : url.pathname}`
}

/** A server that takes the connection and then says nothing would keep us forever. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
