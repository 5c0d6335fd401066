import { connectIoredis } from './ioredis.mjs'

/** The token bucket of the articles, as printed there. */
const script = `
local key = KEYS[1]
local rate = tonumber(ARGV[1])       -- tokens per second
local capacity = tonumber(ARGV[2])   -- bucket size
local now = tonumber(ARGV[3])        -- current timestamp
local requested = tonumber(ARGV[4])  -- tokens requested (usually 1)

local bucket = redis.call('hmget', key, 'tokens', 'last_refill')
local tokens = tonumber(bucket[1]) or capacity
local last_refill = tonumber(bucket[2]) or now

-- Refill tokens
local elapsed = now - last_refill
tokens = math.min(capacity, tokens + elapsed * rate)

-- Check and consume
if tokens >= requested then
    tokens = tokens - requested
    redis.call('hmset', key, 'tokens', tokens, 'last_refill', now)
    redis.call('expire', key, math.ceil(capacity / rate) * 2)
    return 1  -- allowed
else
    redis.call('hmset', key, 'tokens', tokens, 'last_refill', now)
    redis.call('expire', key, math.ceil(capacity / rate) * 2)
    return 0  -- rejected
end
`

export async function article(port, { capacity, perHour }) {
  const client = await connectIoredis(port)
  const sha = await client.script('LOAD', script)
  const perSecond = perHour / 3600
  return {
    ask: (key) => client.evalsha(sha, 1, key, perSecond, capacity, Date.now() / 1000, 1),
    isAllowed: (allowed) => allowed === 1,
  }
}
