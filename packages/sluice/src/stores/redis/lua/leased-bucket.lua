-- Twin of leased-bucket.ts: the state of a token bucket of which nodes hold units on lease. bucket.lua opens it here.
--
-- Words    tokens in units, since when in epoch µs, then for the newer leases and the older ones: units held, and until
--          when in epoch µs. Without held units a state has the first two words only, as bucket.lua says
-- Report   behind the tokens: the same four numbers

local WORDS = '<dddddd'
local NO_LOT = { held = 0, untilUs = 0 }

-- The most tokens beside so many held units. After a limit was lowered, more may be held than its capacity.
local function mostBeside(limit, held)
  return max(0, limit[4] * limit[2] - held * limit[2])
end

local function most(state, limit)
  return mostBeside(limit, state.newer.held + state.older.held)
end

local function refill(state, limit, us)
  local gained = max(0, us - state.sinceUs) * limit[3]
  state.tokens = min(state.tokens + gained, most(state, limit))
  state.sinceUs = max(state.sinceUs, us)
end

-- Ends rounds that are over, each at its time, and refills in between.
local function advance(state, limit)
  for _, place in ipairs({ 'older', 'newer' }) do
    local lot = state[place]
    if lot.held > 0 and lot.untilUs <= now then
      refill(state, limit, lot.untilUs)
      state[place] = NO_LOT
    end
  end
  refill(state, limit, now)
end

-- Only a state with held units has lots, so bucket.lua treats any other as usual.
local function trim(state)
  if state.newer.held + state.older.held == 0 then state.newer, state.older = nil, nil end
end

-- The state of 48 bytes, up to now. Nothing if no limit wrote them.
local function open(words, limit, leastTokens, block)
  local units, sinceUs, newerHeld, newerUs, olderHeld, olderUs = unpackWords(WORDS, words)
  local isState = isWhole(sinceUs) and units > -2 ^ 53 and units < 2 ^ 53
    and isWhole(newerHeld) and isWhole(newerUs) and isWhole(olderHeld) and isWhole(olderUs)
  if not isState then return nil end
  local state = {
    tokens = max(floor(units * limit[2] + 0.5), leastTokens), sinceUs = sinceUs, lastCost = 0, block = block, stored = true,
    newer = { held = newerHeld, untilUs = newerUs }, older = { held = olderHeld, untilUs = olderUs },
  }
  advance(state, limit)
  trim(state)
  return state
end

-- When the bucket is full, if nothing more happens.
local function wholeUs(state, limit)
  local tokens, us, held = state.tokens, state.sinceUs, state.newer.held + state.older.held
  for _, lot in ipairs({ state.older, state.newer }) do
    if lot.held > 0 then
      tokens = min(tokens + max(0, lot.untilUs - us) * limit[3], mostBeside(limit, held))
      us, held = max(us, lot.untilUs), held - lot.held
    end
  end
  return us + ceil((limit[4] * limit[2] - tokens) / limit[3])
end

local function save(key, state, limit)
  local newer, older = state.newer, state.older
  local words = pack(WORDS, state.tokens / limit[2], state.sinceUs, newer.held, newer.untilUs, older.held, older.untilUs)
  write(key, words, wholeUs(state, limit), state.block)
end

-- A return for a round that is over, or that was joined with another, changes nothing: the units count until that ends.
local function takeBack(state, limit, roundUs, spent, unspent)
  for _, place in ipairs({ 'newer', 'older' }) do
    local lot = state[place]
    if lot.held > 0 and lot.untilUs == roundUs then
      local back = min(unspent, max(0, lot.held - spent))
      local held = max(0, lot.held - spent) - back
      state[place] = held == 0 and NO_LOT or { held = held, untilUs = roundUs }
      state.tokens = min(state.tokens + back * limit[2], most(state, limit))
      return true
    end
  end
  return false
end

-- Returns when the units stop counting. A round of another length may end later: then they count until its end.
local function hold(state, units, untilUs)
  if state.newer.held == 0 then state.newer, state.older = state.older, NO_LOT end
  local newer, older = state.newer, state.older
  if newer.held > 0 and newer.untilUs >= untilUs then
    state.newer = { held = newer.held + units, untilUs = newer.untilUs }
    return newer.untilUs
  end
  if newer.held > 0 then state.older = { held = older.held + newer.held, untilUs = newer.untilUs } end
  state.newer = { held = units, untilUs = untilUs }
  return untilUs
end

-- Takes back what is returned, and then grants. Gives how many units, their end, and whether the state has changed. `take`
-- is that of bucket.lua, which also sets the time.
local function lease(state, limit, want, leaseUs, returns, take)
  local isChanged = false
  take(state, limit, 0)
  state.newer, state.older = state.newer or NO_LOT, state.older or NO_LOT
  for _, each in ipairs(returns) do isChanged = takeBack(state, limit, each[1], each[2], each[3]) or isChanged end
  local granted, untilUs = min(want, max(0, floor(state.tokens / limit[2]))), now
  if granted > 0 then
    take(state, limit, granted)
    untilUs, isChanged = hold(state, granted, nextRoundEndsUs(now, leaseUs)), true
  end
  trim(state)
  return granted, untilUs, isChanged
end

return { open = open, most = most, save = save, lease = lease }
