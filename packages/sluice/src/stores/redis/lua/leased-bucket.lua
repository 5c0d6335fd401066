-- Twin of leased-bucket.ts: a token bucket of which nodes hold units on lease. bucket.lua opens and saves such a state here,
-- and leases.lua exchanges here, whether units are on lease or not.
--
-- Words    tokens in units, since when in epoch µs, then for the newer leases and the older ones: units held, and until
--          when in epoch µs. Without held units a state has the first two words only, as bucket.lua says
-- Report   behind the tokens: the same four numbers
--
-- A state is one flat table, because thousands are exchanged a second: `newerHeld`, `newerUs`, `olderHeld` and `olderUs`. A
-- place without units is 0, 0. Without any held units a state has none of the four, so bucket.lua treats it as usual.

local MOST_PARTS = 2 ^ 50

-- The most tokens beside so many held units. After a limit was lowered, more may be held than its capacity.
local function mostBeside(limit, held)
  local most = limit[4] * limit[2] - held * limit[2]
  return most > 0 and most or 0
end

local function most(state, limit)
  return mostBeside(limit, state.newerHeld + state.olderHeld)
end

-- The tokens at a time beside so many held units, and the time. Comparisons, because calls of math.min cost more than the rest.
local function filled(tokens, sinceUs, us, limit, held)
  local mostTokens = mostBeside(limit, held)
  if us > sinceUs then tokens, sinceUs = tokens + (us - sinceUs) * limit[3], us end
  return tokens < mostTokens and tokens or mostTokens, sinceUs
end

local function refill(state, limit, us)
  state.tokens, state.sinceUs = filled(state.tokens, state.sinceUs, us, limit, state.newerHeld + state.olderHeld)
end

-- Ends rounds that are over, each at its time, and refills in between.
local function advance(state, limit)
  if state.olderHeld > 0 and state.olderUs <= now then
    refill(state, limit, state.olderUs)
    state.olderHeld, state.olderUs = 0, 0
  end
  if state.newerHeld > 0 and state.newerUs <= now then
    refill(state, limit, state.newerUs)
    state.newerHeld, state.newerUs = 0, 0
  end
  refill(state, limit, now)
end

local function trim(state)
  if state.newerHeld + state.olderHeld > 0 then return end
  state.newerHeld, state.newerUs, state.olderHeld, state.olderUs = nil, nil, nil, nil
end

-- The state of 16 or 48 bytes, up to now. Nothing if no limit wrote them.
local function stateOf(words, limit, block)
  local units, sinceUs, newerHeld, newerUs, olderHeld, olderUs
  if #words == LEASED_BYTES then
    units, sinceUs, newerHeld, newerUs, olderHeld, olderUs = unpackWords('<dddddd', words)
    if not (isWhole(newerHeld) and isWhole(newerUs) and isWhole(olderHeld) and isWhole(olderUs)) then return nil end
  elseif #words == 16 then
    units, sinceUs = unpackWords('<dd', words)
    newerHeld, newerUs, olderHeld, olderUs = 0, 0, 0, 0
  else
    return nil
  end
  if not (isWhole(sinceUs) and units > -2 ^ 53 and units < 2 ^ 53) then return nil end
  local state = {
    tokens = max(floor(units * limit[2] + 0.5), -MOST_PARTS), sinceUs = sinceUs, block = block, stored = true,
    newerHeld = newerHeld, newerUs = newerUs, olderHeld = olderHeld, olderUs = olderUs,
  }
  advance(state, limit)
  trim(state)
  return state
end

local function open(key, limit)
  local words, block = read(key)
  if words then return stateOf(words, limit, block) end
  if words == nil then return nil end
  -- The four places are named so that the table is made as large as it will be.
  return {
    tokens = limit[4] * limit[2], sinceUs = now, block = block, stored = nil,
    newerHeld = nil, newerUs = nil, olderHeld = nil, olderUs = nil,
  }
end

local function fits(state, _, cost)
  return state.tokens >= cost
end

local function aheadUs(state, limit)
  return state.tokens == limit[4] * limit[2] and 0 or state.sinceUs - now
end

-- When the bucket is full, if nothing more happens.
local function wholeUs(state, limit)
  local tokens, us, full = state.tokens, state.sinceUs, limit[4] * limit[2]
  if tokens >= full then return now end
  local newerHeld, olderHeld = state.newerHeld or 0, state.olderHeld or 0
  if olderHeld > 0 then
    tokens, us = filled(tokens, us, state.olderUs, limit, newerHeld + olderHeld)
  end
  if newerHeld > 0 then
    tokens, us = filled(tokens, us, state.newerUs, limit, newerHeld)
  end
  return us + ceil((full - tokens) / limit[3])
end

local function save(key, state, limit)
  local units, words = state.tokens / limit[2], nil
  if state.newerHeld then
    words = pack('<dddddd', units, state.sinceUs, state.newerHeld, state.newerUs, state.olderHeld, state.olderUs)
  else
    words = pack('<dd', units, state.sinceUs)
  end
  write(key, words, wholeUs(state, limit), state.block)
end

-- A return for a round that is over, or that was joined with another, changes nothing: the units count until that ends.
local function takeBack(state, limit, roundUs, spent, unspent)
  local isNewer = state.newerHeld > 0 and state.newerUs == roundUs
  if not isNewer and not (state.olderHeld > 0 and state.olderUs == roundUs) then return false end
  local unreported = max(0, (isNewer and state.newerHeld or state.olderHeld) - spent)
  local back = min(unspent, unreported)
  local held = unreported - back
  local untilUs = held > 0 and roundUs or 0
  if isNewer then
    state.newerHeld, state.newerUs = held, untilUs
  else
    state.olderHeld, state.olderUs = held, untilUs
  end
  state.tokens = min(state.tokens + back * limit[2], most(state, limit))
  return true
end

local function take(state, limit, cost)
  -- A full bucket equals no bucket, so it starts now, even if it has seen a later time.
  if state.tokens == limit[4] * limit[2] then state.sinceUs = now end
  state.tokens = max(state.tokens - cost * limit[2], -MOST_PARTS)
end

-- Returns when the units stop counting. A round of another length may end later: then they count until its end.
local function hold(state, units, untilUs)
  if state.newerHeld == 0 then
    state.newerHeld, state.newerUs, state.olderHeld, state.olderUs = state.olderHeld, state.olderUs, 0, 0
  end
  if state.newerHeld > 0 and state.newerUs >= untilUs then
    state.newerHeld = state.newerHeld + units
    return state.newerUs
  end
  if state.newerHeld > 0 then
    state.olderHeld, state.olderUs = state.olderHeld + state.newerHeld, state.newerUs
  end
  state.newerHeld, state.newerUs = units, untilUs
  return untilUs
end

-- Takes back what is returned, and then grants. Gives how many units, their end, and whether the state has changed.
local function lease(state, limit, want, leaseUs, at, count)
  local isChanged = false
  if not state.newerHeld then state.newerHeld, state.newerUs, state.olderHeld, state.olderUs = 0, 0, 0, 0 end
  for i = at, at + 3 * count - 1, 3 do
    isChanged = takeBack(state, limit, steps[i], steps[i + 1], steps[i + 2]) or isChanged
  end
  local granted, untilUs = min(want, max(0, floor(state.tokens / limit[2]))), now
  if granted > 0 then
    take(state, limit, granted)
    untilUs, isChanged = hold(state, granted, nextRoundEndsUs(now, leaseUs)), true
  end
  trim(state)
  return granted, untilUs, isChanged
end

local function report() end

return {
  stateOf = stateOf, most = most, open = open, fits = fits, aheadUs = aheadUs, save = save, lease = lease, report = report,
}
