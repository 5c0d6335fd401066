-- Twin of bucket.ts, token-bucket.ts and leaky-bucket.ts.
--
-- Words    tokens or, of a leaky bucket, the queue, in units; since when, in epoch µs; of a leaky bucket also the cost of
--          the last slot. A negative queue is a debt: −3 is a full queue and 3 units beyond it
-- Limit    [algorithm, parts per unit, parts per µs, capacity]
-- Report   nothing: the head has the tokens, and the numbers behind it the time ahead
--
-- A token bucket of which units are on lease has more words: leased-bucket.lua.

local isLeaky = ...
local MOST_PARTS = 2 ^ 50

-- The tokens that were written, in parts.
local function stored(limit, units)
  local parts = floor(units * limit[2] + 0.5)
  if not isLeaky or units < 0 then return parts end
  return max(0, limit[4] * limit[2] - parts)
end

local function tokensNow(limit, units, sinceUs)
  local full = limit[4] * limit[2]
  local tokens = max(stored(limit, units), -MOST_PARTS)
  if tokens >= full then return full end
  local gained = (now - sinceUs) * limit[3]
  if gained <= 0 then return tokens end
  return gained >= full - tokens and full or tokens + gained
end

-- A state with units on lease has four more fields. Without them it is as usual.
local function openLeased(words, limit, block)
  local tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs = leasedBucket().open(words, limit)
  if not tokens then return nil end
  local state = { tokens = tokens, sinceUs = sinceUs, lastCost = 0, block = block, stored = true }
  if newerHeld + olderHeld > 0 then
    state.newerHeld, state.newerUs, state.olderHeld, state.olderUs = newerHeld, newerUs, olderHeld, olderUs
  end
  return state
end

local function open(key, limit)
  local words, block = read(key)
  if words and not isLeaky and #words == LEASED_BYTES then return openLeased(words, limit, block) end
  if words == nil or (words and #words ~= (isLeaky and 24 or 16)) then return nil end
  if not words then
    return { tokens = limit[4] * limit[2], sinceUs = now, lastCost = 0, block = block }
  end
  local units, sinceUs, lastCost = unpackWords(isLeaky and '<ddd' or '<dd', words)
  local isState = isWhole(sinceUs) and units > -2 ^ 53 and units < 2 ^ 53 and (not isLeaky or isWhole(lastCost))
  if not isState then return nil end
  return {
    tokens = tokensNow(limit, units, sinceUs), sinceUs = sinceUs, lastCost = lastCost, block = block, stored = true,
  }
end

local function fits(state, limit, cost)
  return cost <= limit[4] and state.tokens >= cost * limit[2]
end

local function take(state, limit, cost)
  -- A full bucket equals no bucket, so it starts now, even if it has seen a later time.
  if now > state.sinceUs or state.tokens == limit[4] * limit[2] then state.sinceUs = now end
  state.tokens = max(state.tokens - cost * limit[2], -MOST_PARTS)
  state.lastCost = cost
end

-- Is the end of the queue the end of the slot that was taken, to within half a unit?
local function endsAt(state, limit, queue, slot, atUs, delayMs)
  local baseUs = max(now, state.sinceUs)
  local slotEnd = (atUs - baseUs + delayMs * 1000) * limit[3] + slot
  return math.abs(slotEnd - queue) * 2 < limit[2]
end

-- Of a leaky bucket, refunds the last slot only, and only before it departs: requests behind an earlier slot already know
-- when to go. A request that never went gives back its slot even after its time.
local function refund(state, limit, units, atUs, cost, delayMs, isUndo)
  if isLeaky then
    local queue = limit[4] * limit[2] - state.tokens
    local lastCost = atUs and cost or state.lastCost
    local slot = lastCost * limit[2]
    if (queue <= slot and not isUndo) or (atUs and not endsAt(state, limit, queue, slot, atUs, delayMs)) then return false end
    units = min(units, lastCost)
    state.lastCost = lastCost - units
  elseif state.tokens == limit[4] * limit[2] then
    -- Nothing was taken from a full bucket. Another limit with a larger capacity may read the state as not full: it stays.
    return false
  end
  if now > state.sinceUs then state.sinceUs = now end
  local most = state.newerHeld and leasedBucket().mostBeside(limit, state.newerHeld + state.olderHeld)
  state.tokens = min(most or limit[4] * limit[2], state.tokens + units * limit[2])
  return true
end

local function save(key, state, limit)
  local full, tokens, sinceUs, newerHeld = limit[4] * limit[2], state.tokens, state.sinceUs, state.newerHeld
  if newerHeld then
    local newerUs, olderHeld, olderUs = state.newerUs, state.olderHeld, state.olderUs
    return leasedBucket().save(key, limit, state.block, tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs)
  end
  local wholeUs = tokens < full and sinceUs + ceil((full - tokens) / limit[3]) or now
  local units = (isLeaky and tokens >= 0 and full - tokens or tokens) / limit[2]
  local words = isLeaky and pack('<ddd', units, sinceUs, state.lastCost) or pack('<dd', units, sinceUs)
  write(key, words, wholeUs, state.block)
end

local function aheadUs(state, limit)
  return state.tokens == limit[4] * limit[2] and 0 or max(0, state.sinceUs - now)
end

local function report() end

return { open = open, fits = fits, take = take, refund = refund, save = save, aheadUs = aheadUs, report = report }
