// The cases of compare.mjs that need no server, by title. `create(build)` gives a function of a key or, for a policy, of
// a request; every call's answer must have `allowed` equal to `isAllowed`.
import { requestFor } from '../policies.mjs'

const MERCHANTS = 10_000
/** For one key that takes every call: enough for all of them, and never full in between. */
const ENDLESS = { capacity: 1e9, refill: '1000000/s', quota: 1e9 }
/** More than any of many keys takes, and refilled so slowly that no key is forgotten. */
const AMPLE = { capacity: 1e5, refill: '1/h', quota: 1e5 }
/** One call takes all there is, for longer than the measurement. */
const EXHAUSTED = { capacity: 1, refill: '1/h', quota: 1 }

const tokenBucket = (build, { capacity, refill }) => build.tokenBucket({ capacity, refill })
const fixedWindow = (build, { quota }) => build.fixedWindow({ quota, window: '1d' })
const slidingWindow = (build, { quota }) => build.slidingWindow({ quota, window: '1d' })

export const memoryCases = {
  'memory, token bucket, 1 key, admitted': limiter(tokenBucket, 1, true),
  'memory, token bucket, 1 key, denied': limiter(tokenBucket, 1, false),
  'memory, token bucket, 100 k keys, admitted': limiter(tokenBucket, 100_000, true),
  'memory, token bucket, 100 k keys, denied': limiter(tokenBucket, 100_000, false),
  'memory, token bucket, 1 M keys, admitted': limiter(tokenBucket, 1_000_000, true),
  'memory, token bucket, 1 M keys, denied': limiter(tokenBucket, 1_000_000, false),
  'memory, fixed window, 100 k keys, admitted': limiter(fixedWindow, 100_000, true),
  'memory, fixed window, 100 k keys, denied': limiter(fixedWindow, 100_000, false),
  'memory, sliding window, 100 k keys, admitted': limiter(slidingWindow, 100_000, true),
  'memory, sliding window, 100 k keys, denied': limiter(slidingWindow, 100_000, false),
  'memory, four levels, admitted': policy(),
  'memory, four levels, denied by the first': policy('global'),
  'memory, four levels, denied by the third': policy('charges'),
  'memory, four levels, denied by the last': policy('ip'),
  'memory, four levels, denied by the last three': policy('merchant', 'charges', 'ip'),
}

function limiter(limitOf, keys, isAllowed) {
  return {
    keys,
    isAllowed,
    create(build) {
      const ample = keys === 1 ? ENDLESS : AMPLE
      const limit = limitOf(build, isAllowed ? ample : EXHAUSTED)
      const made = build.createLimiter({ name: 'bench', limit, store: build.memoryStore() })
      return (key) => made.tryAcquire(key)
    },
  }
}

/** Four levels that match every request; the named ones have nothing left for any key. */
function policy(...denying) {
  return {
    requests: Array.from({ length: MERCHANTS }, (_, id) => requestFor(id)),
    isAllowed: denying.length === 0,
    create(build) {
      const limit = (level, ample) => tokenBucket(build, denying.includes(level) ? EXHAUSTED : ample)
      const when = { method: 'POST', path: '/v1/charges' }
      const levels = [
        { name: 'global', limit: limit('global', ENDLESS) },
        { name: 'merchant', key: ['merchant'], limit: limit('merchant', AMPLE) },
        { name: 'charges', when, key: ['merchant'], limit: limit('charges', AMPLE) },
        { name: 'ip', key: ['ip'], limit: limit('ip', AMPLE) },
      ]
      const made = build.createPolicy({ name: 'bench', levels, store: build.memoryStore() })
      return (request) => made.check(request)
    },
  }
}
