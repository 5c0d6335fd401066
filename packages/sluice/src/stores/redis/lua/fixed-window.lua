-- Twin of fixed-window.ts.
--
-- Words    mark, count: the mark is the last time that units were taken, or, aligned to the first request, the start of
--          the window
-- Limit    [algorithm, window in µs, 1 if aligned to the first request, quota]
-- Report   mark, count

local LARGEST_DEBT = 1e15

local function open(key)
  local words, block = read(key)
  if words == nil or (words and #words ~= 16) then return nil end
  if not words then return { markUs = now, count = 0, block = block } end
  local markUs, count = unpackWords('<dd', words)
  if not (isWhole(markUs) and isWhole(count)) then return nil end
  return { markUs = markUs, count = count, block = block, stored = true }
end

-- If the clock stepped back, the units that were taken later still count.
local function laterUs(state)
  return state.count > 0 and max(now, state.markUs) or now
end

local function startUs(state, limit)
  local us = laterUs(state)
  if limit[3] == 0 then return floor(us / limit[2]) * limit[2] end
  return state.count > 0 and us - state.markUs < limit[2] and state.markUs or us
end

local function used(state, limit)
  return state.markUs >= startUs(state, limit) and state.count or 0
end

local function fits(state, limit, cost)
  return used(state, limit) + cost <= limit[4]
end

local function take(state, limit, cost)
  local taken = used(state, limit)
  state.markUs = limit[3] == 1 and startUs(state, limit) or laterUs(state)
  state.count = min(taken + cost, limit[4] + LARGEST_DEBT)
end

local function refund(state, limit, units, atUs)
  if atUs and atUs < startUs(state, limit) then return false end
  state.count = max(0, used(state, limit) - units)
  return true
end

local function save(key, state, limit)
  local wholeUs = state.count > 0 and startUs(state, limit) + limit[2] or now
  write(key, pack('<dd', state.markUs, state.count), wholeUs, state.block)
end

local function report(state)
  put(state.markUs)
  put(state.count)
end

local function left(state, limit)
  return max(0, limit[4] - used(state, limit))
end

local lease = leasedWindow(refund, take, left, laterUs, function(state, limit) return startUs(state, limit) + limit[2] end)

return { open = open, fits = fits, take = take, refund = refund, save = save, report = report, lease = lease }
