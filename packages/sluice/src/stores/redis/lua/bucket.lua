-- Twin of bucket.ts: what token and leaky bucket have in common. Levels are whole parts, `full` is capacity · parts.
--
-- Limit    [algorithm, parts a unit, parts a µs, capacity]
-- Report   nothing: the head tells the level, and what follows it the time ahead
--
-- wordsOf(words) gives what is kept, since when, and the cost of the last slot; stored(limit, full, kept) its level.

local stored, length, wordsOf = ...

local function open(key, limit)
  local words, blockedUs = read(key, length)
  if words == nil then return nil end
  local full = limit[4] * limit[2]
  if not words then return { level = full, sinceUs = now, blockedUs = blockedUs, lastCost = 0 } end
  local kept, sinceUs, lastCost = wordsOf(words)
  local level = max(stored(limit, full, kept), -2 ^ 50)
  if level >= full then
    level = full
  else
    local gained = (now - sinceUs) * limit[3]
    if gained >= full - level then
      level = full
    elseif gained > 0 then
      level = level + gained
    end
  end
  return { level = level, sinceUs = sinceUs, blockedUs = blockedUs, lastCost = lastCost, stored = true }
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
  if now > state.sinceUs then state.sinceUs = now end
  state.level = min(limit[4] * limit[2], state.level + units * limit[2])
  return true
end

local function wholeUs(state, limit)
  local missing = limit[4] * limit[2] - state.level
  if missing == 0 then return now end
  return state.sinceUs + ceil(missing / limit[3])
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
  wholeUs = wholeUs, aheadUs = aheadUs, report = report, block = block,
}
