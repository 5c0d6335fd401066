-- Twin of sliding-window.ts. Words: for each view of the key, the window in µs, slices (negative if aligned to the first
-- request), latest, origin, a ring of slices + 1 counts. See views.lua.
--
-- Limit    [algorithm, window in µs, 1 if aligned to the first request, quota, slices]
-- Report   latest, origin, the counts

local LARGEST_DEBT = 1e15
local LARGEST_EXACT, SPLITTER = 2 ^ 53 - 1, 2 ^ 27 + 1

-- ceilRatio is the twin of ceil-ratio.ts: a · b / c rounded up, exact also where the products are not.
local function highOf(a)
  local scaled = a * SPLITTER
  return scaled - (scaled - a)
end

local function errorOf(a, b, product)
  local aHigh, bHigh = highOf(a), highOf(b)
  local aLow, bLow = a - aHigh, b - bHigh
  return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow)
end

local function isAtMost(a, b, c, d)
  local left, right = a * b, c * d
  if left == right then return errorOf(a, b, left) <= errorOf(c, d, right) end
  return left < right
end

local function ceilRatio(a, b, c)
  local product = a * b
  local q = ceil(product / c)
  if product <= LARGEST_EXACT then return q end
  while not isAtMost(a, b, q, c) do q = q + 1 end
  while q > 0 and isAtMost(a, b, q - 1, c) do q = q - 1 end
  return q
end

local function sliceAt(view, us)
  local sinceUs = us - view.originUs
  local window = floor(sinceUs / view.windowUs)
  local parts = (sinceUs - window * view.windowUs) * view.slices
  return window * view.slices + floor(parts / view.windowUs)
end

-- The first microsecond of a slice.
local function sliceUs(view, slice)
  local window = floor(slice / view.slices)
  local parts = (slice - window * view.slices) * view.windowUs
  return view.originUs + window * view.windowUs + ceil(parts / view.slices)
end

local function place(view, slice)
  local ring = view.slices + 1
  return slice - floor(slice / ring) * ring + 1
end

local function newestSlice(view)
  return sliceAt(view, view.latestUs)
end

local function countOf(view, slice)
  local newest = newestSlice(view)
  if slice > newest or slice < newest - view.slices then return 0 end
  return view.counts[place(view, slice)]
end

local function laterUs(view)
  return max(now, view.latestUs)
end

-- The units of the slices that are inside the window as a whole.
local function sum(view, slice)
  local total = 0
  for j = slice - view.slices + 1, newestSlice(view) do total = total + view.counts[place(view, j)] end
  return total
end

-- The units that count of the slice that is leaving the window, rounded up.
local function leaving(view, slice, us)
  local count = countOf(view, slice - view.slices)
  if count == 0 then return 0 end
  local window = floor(slice / view.slices)
  local elapsed = (us - view.originUs - window * view.windowUs) * view.slices
    - (slice - window * view.slices) * view.windowUs
  return ceilRatio(count, view.windowUs - elapsed, view.windowUs)
end

-- The newest slice inside the window that holds anything.
local function newestTaken(view, us)
  local oldest = sliceAt(view, us) - view.slices
  for j = newestSlice(view), oldest, -1 do
    if view.counts[place(view, j)] > 0 then return j end
  end
  return nil
end

local function start(view, us)
  view.latestUs, view.originUs = us, view.first == 1 and us or 0
  view.counts = {}
  for i = 1, view.slices + 1 do view.counts[i] = 0 end
end

local function fresh(limit)
  local view = { windowUs = limit[2], first = limit[3], slices = limit[5] }
  start(view, now)
  return view
end

local function length(raw)
  local bytes = 0
  while #raw - bytes > 16 do
    local _, slices = unpackWords('<dd', raw, bytes + 1)
    local view = 8 * (5 + math.abs(slices))
    if slices == 0 or floor(slices) ~= slices or bytes + view > #raw then return -1 end
    bytes = bytes + view
  end
  return bytes > 0 and bytes or -1
end

local function parse(words)
  local parsed, at = {}, 1
  while at <= #words do
    local windowUs, slices, latestUs, originUs = unpackWords('<dddd', words, at)
    local view = { windowUs = windowUs, first = slices < 0 and 1 or 0, slices = math.abs(slices) }
    view.latestUs, view.originUs = latestUs, originUs
    view.counts = { unpackWords('<' .. string.rep('d', view.slices + 1), words, at + 32) }
    -- struct.unpack also says where it stopped.
    view.counts[view.slices + 2] = nil
    parsed[#parsed + 1] = view
    at = at + 8 * (5 + view.slices)
  end
  return parsed
end

local function packed(view)
  local slices = view.first == 1 and -view.slices or view.slices
  return pack('<dddd', view.windowUs, slices, view.latestUs, view.originUs)
    .. pack('<' .. string.rep('d', view.slices + 1), unpack(view.counts))
end

-- Another window's slices have no place here: what they amounted to when the last was taken counts as taken then.
local function adopted(view, limit)
  local slice = newestSlice(view)
  local amount = sum(view, slice) + leaving(view, slice, view.latestUs)
  local copy = fresh(limit)
  start(copy, view.latestUs)
  copy.counts[place(copy, newestSlice(copy))] = amount
  return copy
end

local function isWhole(view)
  return not newestTaken(view, laterUs(view))
end

-- Even an empty window remembers the latest time, until that has come.
local function wholeUs(view)
  local slice = newestTaken(view, laterUs(view))
  return slice and sliceUs(view, slice + view.slices + 1) or view.latestUs
end

local function fits(state, limit, cost)
  local us = laterUs(state.own)
  local slice = sliceAt(state.own, us)
  return leaving(state.own, slice, us) <= limit[4] - cost - sum(state.own, slice)
end

local function takeFrom(view, cost, quota)
  if isWhole(view) then start(view, now) end
  local us = laterUs(view)
  local slice = sliceAt(view, us)
  for j = max(newestSlice(view) + 1, slice - view.slices), slice do view.counts[place(view, j)] = 0 end
  view.latestUs = us
  local at = place(view, slice)
  view.counts[at] = min(view.counts[at] + cost, quota + LARGEST_DEBT)
end

local function refundTo(view, units, atUs)
  local newest = atUs and sliceAt(view, atUs) or newestSlice(view)
  local oldest = sliceAt(view, laterUs(view)) - view.slices
  if atUs then oldest = max(oldest, newest) end
  local left = units
  for j = newest, oldest, -1 do
    if left <= 0 then break end
    local given = min(left, countOf(view, j))
    if given > 0 then
      local at = place(view, j)
      view.counts[at] = view.counts[at] - given
    end
    left = left - given
  end
  return left < units
end

local function report(state)
  local view = state.own
  put(view.latestUs)
  put(view.originUs)
  for i = 1, view.slices + 1 do put(view.counts[i]) end
end

return views({
  length = length, parse = parse, packed = packed, fresh = fresh, adopted = adopted, isWhole = isWhole,
  wholeUs = wholeUs, fits = fits, takeFrom = takeFrom, refundTo = refundTo, report = report,
})
