-- Twin of sliding-window.ts. Words: window in µs, slices (negative if aligned to the first request), latest, origin,
-- a ring of slices + 1 counts.
--
-- Limit    [algorithm, window in µs, 1 if aligned to the first request, quota, slices]
-- Report   latest, origin, the counts

local LARGEST_DEBT = 1e15

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

local function place(state, slice)
  local ring = state.slices + 1
  return slice - floor(slice / ring) * ring + 1
end

local function newestSlice(state)
  return sliceAt(state, state.latestUs)
end

local function countOf(state, slice)
  local newest = newestSlice(state)
  if slice > newest or slice < newest - state.slices then return 0 end
  return state.counts[place(state, slice)]
end

local function laterUs(state)
  return max(now, state.latestUs)
end

-- The units of the slices that are inside the window as a whole.
local function sum(state, slice)
  local total = 0
  for j = slice - state.slices + 1, newestSlice(state) do total = total + state.counts[place(state, j)] end
  return total
end

-- The units that count of the slice that is leaving the window.
local function leaving(state, slice, us)
  local count = countOf(state, slice - state.slices)
  if count == 0 then return 0 end
  local window = floor(slice / state.slices)
  local elapsed = (us - state.originUs - window * state.windowUs) * state.slices
    - (slice - window * state.slices) * state.windowUs
  return (count * (state.windowUs - elapsed)) / state.windowUs
end

-- The newest slice inside the window that holds anything.
local function newestTaken(state, us)
  local oldest = sliceAt(state, us) - state.slices
  for j = newestSlice(state), oldest, -1 do
    if state.counts[place(state, j)] > 0 then return j end
  end
  return nil
end

local function start(state, limit, us)
  state.windowUs, state.slices = limit[2], limit[5]
  state.latestUs, state.originUs = us, limit[3] == 1 and us or 0
  state.counts = {}
  for i = 1, limit[5] + 1 do state.counts[i] = 0 end
end

local function length(words)
  if #words < 16 then return 0 end
  local _, slices = unpackWords('<dd', words)
  return 8 * (5 + math.abs(slices))
end

-- Another window's slices have no place here: what they amounted to when the last was taken counts as taken then.
local function adopt(state, limit)
  local slice = newestSlice(state)
  local amount = sum(state, slice) + ceil(leaving(state, slice, state.latestUs))
  start(state, limit, state.latestUs)
  state.counts[place(state, newestSlice(state))] = amount
end

local function open(key, limit)
  local words, blockedUs = read(key, length)
  if words == nil then return nil end
  local state = { blockedUs = blockedUs, stored = words and true }
  if not words then
    start(state, limit, now)
    return state
  end
  local windowUs, slices, latestUs, originUs = unpackWords('<dddd', words)
  state.windowUs, state.slices, state.latestUs, state.originUs = windowUs, math.abs(slices), latestUs, originUs
  state.counts = { unpackWords('<' .. string.rep('d', state.slices + 1), words, 33) }
  -- struct.unpack also says where it stopped.
  state.counts[state.slices + 2] = nil
  if windowUs ~= limit[2] or slices ~= (limit[3] == 1 and -limit[5] or limit[5]) then adopt(state, limit) end
  return state
end

local function fits(state, limit, cost)
  local us = laterUs(state)
  local slice = sliceAt(state, us)
  return leaving(state, slice, us) <= limit[4] - cost - sum(state, slice)
end

local function take(state, limit, cost)
  if not newestTaken(state, laterUs(state)) then start(state, limit, now) end
  local us = laterUs(state)
  local slice = sliceAt(state, us)
  for j = max(newestSlice(state) + 1, slice - state.slices), slice do state.counts[place(state, j)] = 0 end
  state.latestUs = us
  local at = place(state, slice)
  state.counts[at] = min(state.counts[at] + cost, limit[4] + LARGEST_DEBT)
end

local function giveBack(state, _, units, atUs)
  local newest = atUs and sliceAt(state, atUs) or newestSlice(state)
  local oldest = sliceAt(state, laterUs(state)) - state.slices
  if atUs then oldest = max(oldest, newest) end
  local left = units
  for j = newest, oldest, -1 do
    if left <= 0 then break end
    local given = min(left, countOf(state, j))
    if given > 0 then
      local at = place(state, j)
      state.counts[at] = state.counts[at] - given
    end
    left = left - given
  end
  return left < units
end

local function save(key, state, limit)
  local slice = newestTaken(state, laterUs(state))
  -- Even an empty window remembers the latest time, until that has come.
  local wholeUs = slice and sliceUs(state, slice + state.slices + 1) or state.latestUs
  local words = pack('<dddd', state.windowUs, limit[3] == 1 and -state.slices or state.slices, state.latestUs, state.originUs)
    .. pack('<' .. string.rep('d', state.slices + 1), unpack(state.counts))
  write(key, words, wholeUs, state.blockedUs)
end

local function report(state)
  put(state.latestUs)
  put(state.originUs)
  for i = 1, state.slices + 1 do put(state.counts[i]) end
end

local function block(key, untilUs)
  return writeBlock(key, untilUs, length)
end

return { open = open, fits = fits, take = take, giveBack = giveBack, save = save, report = report, block = block }
