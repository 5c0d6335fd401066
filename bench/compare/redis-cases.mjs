// The cases of compare.mjs on Redis, by title. `subjects(builds, port)` promises the subjects that take turns, by name,
// each with its own connection; `pairs` says which of them are compared.
import { article } from '../redis-contenders/article.mjs'
import { connectIoredis } from '../redis-contenders/ioredis.mjs'
import { sluiceWith } from '../redis-contenders/sluice.mjs'

/** More than any key is asked for, so that every call is admitted, and refilled so slowly that no key is forgotten. */
const LIMIT = { capacity: 100_000, perHour: 60 }

const limits = {
  'token bucket': (build) => build.tokenBucket({ capacity: LIMIT.capacity, refill: `${LIMIT.perHour}/h` }),
  'fixed window': (build) => build.fixedWindow({ quota: LIMIT.capacity, window: '1d' }),
  'sliding window': (build) => build.slidingWindow({ quota: LIMIT.capacity, window: '1d' }),
}

export const redisCases = {
  'Redis, token bucket, 1 caller': oldAndNew(1),
  'Redis, token bucket, 16 callers': oldAndNew(16),
  'Redis, token bucket, 256 callers': oldAndNew(256),
  'Redis, windows of the old build, 256 callers': windows('old'),
  'Redis, windows of the new build, 256 callers': windows('new'),
}

export const redisBytesCases = Object.fromEntries(
  Object.keys(limits).map((name) => [`Redis, bytes, ${name}`, { subjectOf: (...given) => subject(name, ...given) }]),
)

function oldAndNew(callers) {
  return {
    callers,
    pairs: [
      ['new', 'old'],
      ['new', 'article'],
      ['old', 'article'],
    ],
    subjects: async (builds, port) => ({
      article: await article(port, LIMIT),
      old: await subject('token bucket', 'old', builds.old, port),
      new: await subject('token bucket', 'new', builds.new, port),
    }),
  }
}

function windows(name) {
  return {
    callers: 256,
    pairs: [
      ['fixed window', 'token bucket'],
      ['sliding window', 'token bucket'],
    ],
    async subjects(builds, port) {
      const found = {}
      for (const each of Object.keys(limits)) found[each] = await subject(each, name, builds[name], port)
      return found
    },
  }
}

/**
 * Each build has its own keys, because a state of one may mean something else to the other. Their prefix is as long as
 * the default one, `sluice:`. The deadline is long, so that a busy machine ends no measurement.
 */
async function subject(limit, name, build, port) {
  const options = { prefix: `${name}-it:`, deadlineMs: 5_000 }
  return sluiceWith(build, await connectIoredis(port), limits[limit](build), options)
}
