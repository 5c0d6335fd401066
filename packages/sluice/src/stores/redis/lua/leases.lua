-- One exchange of a node with a state: what is left of earlier leases comes back, and units go out.
--
-- An exchange of a token bucket needs states.lua and leased-bucket.lua only. It is written for many in a batch.
--
-- KEYS     state
--          guard       a string: the number of the last request of this node for this state
-- A request whose number is not above the last one arrives twice, or late: it changes nothing. A guard lives for longer than
-- any lease that a request with this number or a lower one can name. After that, such a request returns nothing either.
--
-- Reply    the report of the state afterwards, for a cost of 0; then how many units were granted, and when their lease ends.
--          A key that is blocked takes back, and grants nothing

local function isStale(guard, sequence)
  local last = pcall('GET', guard)
  return type(last) == 'string' and sequence <= (tonumber(last) or 0)
end

-- The returns are `count` times round, spent, unspent in the steps from `at` on.
local function remember(guard, sequence, leaseUs, at, count)
  local roundUs = LEASES_A_ROUND * leaseUs
  local latestUs = now + 2 * roundUs
  for i = at, at + 3 * count - 1, 3 do
    if steps[i] > latestUs then latestUs = steps[i] end
  end
  call('SET', guard, format('%d', sequence), 'PX', ttlMs(latestUs + roundUs))
end

-- The state of a bucket is six numbers, as leased-bucket.lua says.
local bucket
local function exchangeBucket(key, guard, limit, want, leaseUs, sequence, at, count)
  bucket = bucket or leasedBucket()
  local words, block = read(key)
  if words == nil then return put(6) end
  local tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs = bucket.open(words, limit)
  if not tokens then return put(6) end
  local granted, untilUs, isChanged = 0, now, false
  if not isStale(guard, sequence) then
    if block.untilUs > now then want = 0 end
    isChanged, tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs =
      bucket.takeBack(limit, at, count, tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs)
    granted, untilUs, tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs =
      bucket.grant(limit, want, leaseUs, tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs)
    if isChanged or granted > 0 then
      bucket.save(key, limit, block, tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs)
    end
    remember(guard, sequence, leaseUs, at, count)
  end
  local aheadUs = tokens == limit[4] * limit[2] and 0 or sinceUs - now
  putHead(tokens >= 0, block, aheadUs, tokens, newerHeld + olderHeld > 0 and newerHeld, newerUs, olderHeld, olderUs)
  put(granted)
  put(untilUs)
end

local function exchangeWindow(key, guard, limit, want, leaseUs, sequence, at, count)
  local arithmetic = general().arithmeticOf(limit)
  local state = arithmetic.open(key, limit)
  if not state then return put(6) end
  local granted, untilUs = 0, now
  if not isStale(guard, sequence) then
    local isChanged
    if state.block.untilUs > now then want = 0 end
    granted, untilUs, isChanged = arithmetic.lease(state, limit, want, leaseUs, at, count)
    if isChanged then arithmetic.save(key, state, limit) end
    remember(guard, sequence, leaseUs, at, count)
  end
  describe(arithmetic, state, limit, 0)
  put(granted)
  put(untilUs)
end

return { bucket = exchangeBucket, window = exchangeWindow }
