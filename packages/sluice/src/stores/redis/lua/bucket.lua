-- Twin of bucket.ts: what token and leaky bucket have in common. Levels are whole parts, `full` is capacity · parts.
--
-- Limit    [algorithm, parts a unit, parts a µs, capacity]
-- Report   nothing: the head tells the level, and what follows it the time ahead
--
-- The last word is the state's users, as in users.ts: how long the slowest limit that has used it since it was last whole
-- takes to fill, and for a unit, as two float32; a fill time below zero says that there are several. The state must not
-- expire before it is whole for all of them.
--
-- The file of a bucket gives
--   length                              of its words, in bytes
--   wordsOf(words)                      units that are kept, since when, cost of the last slot, capacity then, excess, users
--   packed(state)                       words
--   own(kept, room, excess, capacity)   the units as they are for a capacity
--   stored(limit, full, own)            their level
--   kept(level, limit, full)            the units of a level
--   debt(kept, units)                   units with so many more of debt
--   toGoUs(units, fillUs, unitUs)       how long until it is whole for users that take so long

local bucket = ...
local length = bucket.length

-- What a float32 may be off by, and more.
local ERROR = 2 ^ -20
-- Nothing is remembered for longer: 35 years.
local LONGEST_US = 2 ^ 50
local LARGEST_LEVEL = 2 ^ 50

local function bothUsers(one, other)
  if one == other then return one end
  local fillUs, unitUs = unpackWords('<ff', pack('<d', one))
  local otherFillUs, otherUnitUs = unpackWords('<ff', pack('<d', other))
  local slowestUs = max(math.abs(fillUs), math.abs(otherFillUs))
  return (unpackWords('<d', pack('<ff', -slowestUs, max(unitUs, otherUnitUs))))
end

-- When units that were there since a time are whole for all users.
local function wholeForAllUs(users, sinceUs, units)
  local fillUs, unitUs = unpackWords('<ff', pack('<d', users))
  return sinceUs + min(LONGEST_US, bucket.toGoUs(units, fillUs, unitUs, ERROR))
end

-- The level now of units that were there since a time, and what it was then.
local function levelNow(limit, own, sinceUs)
  local full = limit[4] * limit[2]
  local stored = bucket.stored(limit, full, own)
  local level = max(stored, -LARGEST_LEVEL)
  if level >= full then return full, stored end
  local gained = (now - sinceUs) * limit[3]
  if gained >= full - level then return full, stored end
  return gained > 0 and level + gained or level, stored
end

local function open(key, limit, isLook)
  local words, blockedUs = read(key, length)
  if words == nil then return nil end
  local full = limit[4] * limit[2]
  local fresh = {
    level = full, sinceUs = now, blockedUs = blockedUs, lastCost = 0, room = limit[4], excess = 0, users = usersOf(limit),
  }
  if not words then return fresh end
  local kept, sinceUs, lastCost, room, excess, users = bucket.wordsOf(words)
  if users ~= fresh.users then
    if wholeForAllUs(users, sinceUs, kept + excess) <= now then return fresh end
    local all = bothUsers(users, fresh.users)
    if all ~= users and not isLook then
      users = all
      local patched = string.sub(words, 1, length - 8) .. pack('<d', users)
      write(key, patched, wholeForAllUs(users, sinceUs, kept + excess), blockedUs)
    end
  end
  local own = bucket.own(kept, room, excess, limit[4])
  local level, stored = levelNow(limit, own, sinceUs)
  -- A debt that other numbers left, of more parts than can be counted here, stays what it is, and since when.
  local isBeyondCount = stored < -LARGEST_LEVEL
  if not isBeyondCount then
    room, excess = limit[4], kept + excess - own
    if excess > 0 then
      local left = max(0, now - sinceUs) * limit[3] / limit[2]
      excess = max(0, excess - max(0, left - own))
    else
      excess = 0
    end
  end
  return {
    level = level, sinceUs = sinceUs, blockedUs = blockedUs, lastCost = lastCost, users = users, isAbove = stored >= full,
    kept = kept, room = room, excess = excess, isBeyondCount = isBeyondCount, stored = true,
  }
end

local function fits(state, limit, cost)
  return cost <= limit[4] and state.level >= cost * limit[2]
end

local function addToDebt(state, limit, units)
  state.kept = bucket.debt(state.kept, units)
  state.level = levelNow(limit, bucket.own(state.kept, state.room, state.excess, limit[4]), state.sinceUs)
end

local function take(state, limit, cost)
  state.lastCost = cost
  if state.isBeyondCount then return addToDebt(state, limit, cost) end
  -- A whole bucket is the same as none, so its past does not count, even if it lies ahead.
  if now > state.sinceUs or (state.level == limit[4] * limit[2] and state.excess == 0) then state.sinceUs = now end
  state.level = max(state.level - cost * limit[2], -LARGEST_LEVEL)
end

local function refund(state, limit, units)
  -- As much as fits or more was left by a larger capacity: there is nothing to add here, and it is not to be cut down.
  if state.isAbove then return false end
  if state.isBeyondCount then
    addToDebt(state, limit, -units)
    return true
  end
  if now > state.sinceUs then state.sinceUs = now end
  state.level = min(limit[4] * limit[2], state.level + units * limit[2])
  return true
end

-- Where the limit is the only user it is known exactly when it is whole.
local function save(key, state, limit)
  local full = limit[4] * limit[2]
  if not state.isBeyondCount then state.kept = bucket.kept(state.level, limit, full) end
  local wholeUs = now
  if state.users ~= usersOf(limit) then
    wholeUs = wholeForAllUs(state.users, state.sinceUs, state.kept + state.excess)
  elseif state.level < full then
    wholeUs = state.sinceUs + ceil((full - state.level) / limit[3])
  end
  write(key, bucket.packed(state), wholeUs, state.blockedUs)
end

local function aheadUs(state, limit)
  return state.level == limit[4] * limit[2] and 0 or max(0, state.sinceUs - now)
end

local function report() end

local function block(key, untilUs)
  return writeBlock(key, untilUs, length)
end

return {
  open = open, fits = fits, take = take, refund = refund, save = save,
  aheadUs = aheadUs, report = report, block = block,
}
