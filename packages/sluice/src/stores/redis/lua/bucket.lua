-- Twin of bucket.ts: what token and leaky bucket have in common. Levels are whole parts, `full` is capacity · parts.
--
-- Limit    [algorithm, parts a unit, parts a µs, capacity]
-- Report   nothing: the head tells the level, and what follows it the time ahead
--
-- wordsOf(words) gives what is kept, since when, the cost of the last slot, and the longest time in µs that any limit that
-- has taken needs to be full again; stored(limit, full, kept) gives its level. Other numbers read the same state, so it must
-- not expire before it is whole by all of them.

local stored, length, wordsOf = ...

local function open(key, limit)
  local words, blockedUs = read(key, length)
  if words == nil then return nil end
  local full = limit[4] * limit[2]
  if not words then return { level = full, sinceUs = now, blockedUs = blockedUs, lastCost = 0, spanUs = 0 } end
  local kept, sinceUs, lastCost, spanUs = wordsOf(words)
  local level = max(stored(limit, full, kept), -2 ^ 50)
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
    level = level, sinceUs = sinceUs, blockedUs = blockedUs, lastCost = lastCost, spanUs = spanUs, isAbove = isAbove,
    stored = true,
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

local function fillUs(limit)
  return ceil(limit[4] * limit[2] / limit[3])
end

local function wholeUs(state, limit)
  local missing = limit[4] * limit[2] - state.level
  local ownUs = missing == 0 and now or state.sinceUs + ceil(missing / limit[3])
  if state.spanUs <= fillUs(limit) then return ownUs end
  return max(ownUs, state.sinceUs + state.spanUs)
end

local function spanUs(state, limit)
  return max(state.spanUs, fillUs(limit))
end

local function aheadUs(state, limit)
  return state.level == limit[4] * limit[2] and 0 or max(0, state.sinceUs - now)
end

local function report() end

local function block(key, untilUs)
  return writeBlock(key, untilUs, length)
end

return {
  open = open, fits = fits, take = take, giveBack = giveBack,
  wholeUs = wholeUs, spanUs = spanUs, aheadUs = aheadUs, report = report, block = block,
}
