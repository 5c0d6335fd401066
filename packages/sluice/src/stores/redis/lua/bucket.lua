-- Twin of bucket.ts: what token and leaky bucket have in common. Levels are whole parts, `full` is capacity · parts.
--
-- Limit    [algorithm, parts a unit, parts a µs, capacity]
-- Report   nothing: the head tells the level, and what follows it the time ahead
--
-- The last word is the state's users, as in users.ts: how long the slowest limit that has used it since it was last whole
-- takes to fill, and for a unit, as two float32. It must not expire before it is whole for all of them.
--
-- The file of a bucket gives
--   length                         of its words, in bytes
--   wordsOf(words)                 units that are kept, since when, cost of the last slot, capacity then, users
--   stored(limit, full, kept)      their level
--   kept(state, limit, full)       the units of a level
--   packed(state, limit, kept)     words
--   toGoUs(kept, fillUs, unitUs)   how long until it is whole, with users that take so long

local bucket = ...
local length = bucket.length

-- A float32 may have been rounded down by less than this.
local MORE = 1 + 2 ^ -20
-- Nothing is remembered for longer: 35 years.
local LONGEST_US = 2 ^ 50

local function bothUsers(one, other)
  local fillUs, unitUs = unpackWords('<ff', pack('<d', one))
  local otherFillUs, otherUnitUs = unpackWords('<ff', pack('<d', other))
  return (unpackWords('<d', pack('<ff', max(fillUs, otherFillUs), max(unitUs, otherUnitUs))))
end

-- When units that were there since a time are whole for all users.
local function wholeForAllUs(users, sinceUs, kept)
  local fillUs, unitUs = unpackWords('<ff', pack('<d', users))
  return sinceUs + min(LONGEST_US, ceil(bucket.toGoUs(kept, fillUs, unitUs) * MORE))
end

local function open(key, limit)
  local words, blockedUs = read(key, length)
  if words == nil then return nil end
  local full = limit[4] * limit[2]
  local fresh = { level = full, sinceUs = now, blockedUs = blockedUs, lastCost = 0, excess = 0, users = usersOf(limit) }
  if not words then return fresh end
  local kept, sinceUs, lastCost, room, users = bucket.wordsOf(words)
  if users ~= fresh.users then
    local wholeUs = wholeForAllUs(users, sinceUs, kept)
    if wholeUs <= now then return fresh end
    local all = bothUsers(users, fresh.users)
    if all ~= users then
      users = all
      write(key, string.sub(words, 1, length - 8) .. pack('<d', users), wholeForAllUs(users, sinceUs, kept), blockedUs)
    end
  end
  local excess = max(0, min(room - limit[4], kept - limit[4]))
  local level = max(bucket.stored(limit, full, kept - excess), -2 ^ 50)
  local isAbove = level >= full
  if isAbove then
    level = full
  else
    local gained = (now - sinceUs) * limit[3]
    if gained >= full - level then
      level = full
    elseif gained > 0 then
      level = level + gained
    end
  end
  return {
    level = level, sinceUs = sinceUs, blockedUs = blockedUs, lastCost = lastCost, users = users, isAbove = isAbove,
    excess = level > 0 and 0 or excess, stored = true,
  }
end

local function fits(state, limit, cost)
  return cost <= limit[4] and state.level >= cost * limit[2]
end

local function take(state, limit, cost)
  -- A whole bucket is the same as none, so its past does not count, even if it lies ahead.
  if now > state.sinceUs or state.level == limit[4] * limit[2] then state.sinceUs = now end
  state.level = max(state.level - cost * limit[2], -2 ^ 50)
  state.lastCost = cost
end

local function giveBack(state, limit, units)
  -- As much as fits or more was left by a larger capacity: there is nothing to add here, and it is not to be cut down.
  if state.isAbove then return false end
  if now > state.sinceUs then state.sinceUs = now end
  state.level = min(limit[4] * limit[2], state.level + units * limit[2])
  return true
end

-- Where the limit is the only user it is known exactly.
local function save(key, state, limit)
  local full = limit[4] * limit[2]
  local kept = bucket.kept(state, limit, full)
  local wholeUs = now
  if state.users ~= usersOf(limit) then
    wholeUs = wholeForAllUs(state.users, state.sinceUs, kept)
  elseif state.level < full then
    wholeUs = state.sinceUs + ceil((full - state.level) / limit[3])
  end
  write(key, bucket.packed(state, limit, kept), wholeUs, state.blockedUs)
end

local function aheadUs(state, limit)
  return state.level == limit[4] * limit[2] and 0 or max(0, state.sinceUs - now)
end

local function report() end

local function block(key, untilUs)
  return writeBlock(key, untilUs, length)
end

return {
  open = open, fits = fits, take = take, giveBack = giveBack, save = save,
  aheadUs = aheadUs, report = report, block = block,
}
