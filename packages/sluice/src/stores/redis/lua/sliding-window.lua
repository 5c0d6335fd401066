-- Twin of sliding-window.ts.
--
-- Words    the last time that units were taken, the origin of the slices, a ring of slices + 1 counts
-- Limit    [algorithm, window in µs, 1 if aligned to the first request, quota, slices]
-- Report   the words

local LARGEST_DEBT = 1e15
local LARGEST_EXACT, SPLITTER = 2 ^ 53 - 1, 2 ^ 27 + 1

-- ceilRatio is the twin of ceil-ratio.ts: a · b / c rounded up, exact even if the products are not.
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

local function sliceAt(state, us)
  local sinceUs = us - state.originUs
  local window = floor(sinceUs / state.windowUs)
  local parts = (sinceUs - window * state.windowUs) * state.slices
  return window * state.slices + floor(parts / state.windowUs)
end

-- The first microsecond of a slice.
local function sliceUs(state, slice)
  local window = floor(slice / state.slices)
  local parts = (slice - window * state.slices) * state.windowUs
  return state.originUs + window * state.windowUs + ceil(parts / state.slices)
end

-- Where in the ring the count of a slice is.
local function indexOf(state, slice)
  local ring = state.slices + 1
  return slice - floor(slice / ring) * ring + 1
end

local function newestSlice(state)
  return sliceAt(state, state.latestUs)
end

local function countOf(state, slice)
  local newest = newestSlice(state)
  if slice > newest or slice < newest - state.slices then return 0 end
  return state.counts[indexOf(state, slice)]
end

local function laterUs(state)
  return max(now, state.latestUs)
end

-- The units of the slices that are wholly inside the window.
local function sum(state, slice)
  local total = 0
  for j = slice - state.slices + 1, newestSlice(state) do total = total + state.counts[indexOf(state, j)] end
  return total
end

-- How many units of the slice that is leaving the window still count, rounded up.
local function leaving(state, slice, us)
  local count = countOf(state, slice - state.slices)
  if count == 0 then return 0 end
  local window = floor(slice / state.slices)
  local elapsed = (us - state.originUs - window * state.windowUs) * state.slices
    - (slice - window * state.slices) * state.windowUs
  return ceilRatio(count, state.windowUs - elapsed, state.windowUs)
end

-- The newest slice inside the window that has units.
local function newestTaken(state, us)
  local oldest = sliceAt(state, us) - state.slices
  for j = newestSlice(state), oldest, -1 do
    if state.counts[indexOf(state, j)] > 0 then return j end
  end
  return nil
end

-- Makes the state that of a key that has taken nothing.
local function start(state, limit)
  state.latestUs, state.originUs, state.counts = now, limit[3] == 1 and now or 0, {}
  for i = 1, state.slices + 1 do state.counts[i] = 0 end
end

local function open(key, limit)
  local words, block = read(key)
  local counts = limit[5] + 1
  if words == nil or (words and #words ~= 16 + 8 * counts) then return nil end
  local state = { windowUs = limit[2], slices = limit[5], block = block, stored = words and true }
  if words then
    state.latestUs, state.originUs = unpackWords('<dd', words)
    state.counts = { unpackWords('<' .. string.rep('d', counts), words, 17) }
    -- struct.unpack also returns where it stopped.
    state.counts[counts + 1] = nil
    if not (isWhole(state.latestUs) and isWhole(state.originUs)) then return nil end
    for i = 1, counts do
      if not isWhole(state.counts[i]) then return nil end
    end
  else
    start(state, limit)
  end
  return state
end

local function fits(state, limit, cost)
  local us = laterUs(state)
  local slice = sliceAt(state, us)
  return leaving(state, slice, us) <= limit[4] - cost - sum(state, slice)
end

local function left(state, limit)
  local us = laterUs(state)
  local slice = sliceAt(state, us)
  return max(0, limit[4] - sum(state, slice) - leaving(state, slice, us))
end

local function take(state, limit, cost)
  if not newestTaken(state, laterUs(state)) then start(state, limit) end
  local us = laterUs(state)
  local slice = sliceAt(state, us)
  for j = max(newestSlice(state) + 1, slice - state.slices), slice do state.counts[indexOf(state, j)] = 0 end
  state.latestUs = us
  local at = indexOf(state, slice)
  state.counts[at] = min(state.counts[at] + cost, limit[4] + LARGEST_DEBT)
end

local function refund(state, _, units, atUs)
  local newest = atUs and sliceAt(state, atUs) or newestSlice(state)
  local oldest = sliceAt(state, laterUs(state)) - state.slices
  if atUs then oldest = max(oldest, newest) end
  local left = units
  for j = newest, oldest, -1 do
    if left <= 0 then break end
    local refunded = min(left, countOf(state, j))
    if refunded > 0 then
      local at = indexOf(state, j)
      state.counts[at] = state.counts[at] - refunded
    end
    left = left - refunded
  end
  return left < units
end

local function save(key, state)
  local slice = newestTaken(state, laterUs(state))
  local wholeUs = slice and sliceUs(state, slice + state.slices + 1) or now
  local counts = pack('<' .. string.rep('d', state.slices + 1), unpack(state.counts))
  write(key, pack('<dd', state.latestUs, state.originUs) .. counts, wholeUs, state.block)
end

local function report(state)
  put(state.latestUs)
  put(state.originUs)
  for i = 1, state.slices + 1 do put(state.counts[i]) end
end

local function sliceEndUs(state)
  return sliceUs(state, newestSlice(state) + 1)
end

local lease = leasedWindow(refund, take, left, laterUs, sliceEndUs)

return { open = open, fits = fits, take = take, refund = refund, save = save, report = report, lease = lease }
