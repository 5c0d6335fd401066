-- Twin of fixed-window.ts. Words: for each view of the key, the window in µs (negative if aligned to the first request),
-- mark, count. See views.lua.
--
-- Limit    [algorithm, window in µs, 1 if aligned to the first request, quota]
-- Report   mark, count

local LARGEST_DEBT = 1e15
local VIEW = 24

local function length(raw)
  local bytes = floor(#raw / VIEW) * VIEW
  return bytes > 0 and bytes or -1
end

local function parse(words)
  local parsed = {}
  for at = 1, #words, VIEW do
    local windowUs, markUs, count = unpackWords('<ddd', words, at)
    parsed[#parsed + 1] =
      { windowUs = math.abs(windowUs), first = windowUs < 0 and 1 or 0, slices = 1, markUs = markUs, count = count }
  end
  return parsed
end

local function packed(view)
  return pack('<ddd', view.first == 1 and -view.windowUs or view.windowUs, view.markUs, view.count)
end

local function laterUs(view)
  return view.count > 0 and max(now, view.markUs) or now
end

local function startUs(view)
  local us = laterUs(view)
  if view.first == 0 then return floor(us / view.windowUs) * view.windowUs end
  return view.count > 0 and us - view.markUs < view.windowUs and view.markUs or us
end

local function used(view)
  return view.markUs >= startUs(view) and view.count or 0
end

local function isWhole(view)
  return used(view) == 0
end

local function wholeUs(view)
  return view.count == 0 and now or startUs(view) + view.windowUs
end

local function fresh(limit)
  return { windowUs = limit[2], first = limit[3], slices = 1, markUs = now, count = 0 }
end

local function adopted(view, limit)
  local copy = fresh(limit)
  copy.markUs, copy.count = view.markUs, view.count
  -- A mark that is a window's start does not say when units were taken: for all that is known, just now.
  if view.first == 1 and not isWhole(view) then copy.markUs = max(now, view.markUs) end
  return copy
end

local function fits(state, limit, cost)
  return used(state.own) + cost <= limit[4]
end

local function takeFrom(view, cost, quota)
  local taken = used(view)
  view.markUs = view.first == 1 and startUs(view) or laterUs(view)
  view.count = min(taken + cost, quota + LARGEST_DEBT)
end

local function refundTo(view, units, atUs)
  if atUs and atUs < startUs(view) then return false end
  view.count = max(0, used(view) - units)
  return true
end

local function report(state)
  put(state.own.markUs)
  put(state.own.count)
end

return views({
  length = length, parse = parse, packed = packed, fresh = fresh, adopted = adopted, isWhole = isWhole,
  wholeUs = wholeUs, fits = fits, takeFrom = takeFrom, refundTo = refundTo, report = report,
})
