-- Twin of log.ts, for sliding logs and concurrency limits. A header of six words (entries dropped at the front, units
-- dropped with them, the end of a block, when the log is whole, the longest window and the largest quota that have taken)
-- and entries of two, oldest first: a time, and how many units were taken until then, dropped ones included.
-- Limits with other numbers read the same log, so it keeps what any of them may ask about: the newest units.
-- A short log is read and written as a whole; of a long one only what is needed, and units are appended to it.
--
-- Limit    [algorithm, window or ttl in µs, quota or max]
-- Report   units inside the window, the newest's time, and when the last units were taken that have to leave before the
--          cost fits, and before one more unit would; times are 0 where there is none

local HEADER, ENTRY = 48, 16
local SHORT = HEADER + 64 * ENTRY

-- From the first request of a limit on, it may ask about what is in the log.
local function keepFor(state, limit)
  if limit[2] <= state.keptUs and limit[3] <= state.keptUnits then return end
  state.wholeUs = state.wholeUs - state.keptUs + max(state.keptUs, limit[2])
  state.keptUs, state.keptUnits = max(state.keptUs, limit[2]), max(state.keptUnits, limit[3])
  local header = pack('<ddd', state.wholeUs, state.keptUs, state.keptUnits)
  call('SETRANGE', state.key, 24, header)
  call('PEXPIRE', state.key, ttlMs(max(state.wholeUs, state.blockedUs)))
  state.raw = string.sub(state.raw, 1, 24) .. header .. string.sub(state.raw, HEADER + 1)
end

local function open(key, limit, isLook)
  local raw = pcall('GETRANGE', key, 0, SHORT - 1)
  if type(raw) ~= 'string' then return nil end
  local state = { key = key, raw = raw, bytes = #raw, dropped = 0, base = 0, blockedUs = 0, entries = 0, keptUs = 0, keptUnits = 0 }
  if raw == '' then return state end
  if #raw == SHORT then state.bytes = call('STRLEN', key) end
  if #raw < HEADER or (state.bytes - HEADER) % ENTRY ~= 0 then return nil end
  state.dropped, state.base, state.blockedUs, state.wholeUs, state.keptUs, state.keptUnits = unpackWords('<dddddd', raw)
  state.entries = (state.bytes - HEADER) / ENTRY
  state.stored = state.entries > 0
  if limit and not isLook and state.wholeUs > now then keepFor(state, limit) end
  return state
end

-- The time of an entry, and the units until then.
local function entry(state, index)
  local at = HEADER + ENTRY * index
  if at + ENTRY <= #state.raw then return unpackWords('<dd', state.raw, at + 1) end
  return unpackWords('<dd', call('GETRANGE', state.key, at, at + ENTRY - 1))
end

-- The units until before an entry.
local function unitsBefore(state, index)
  if index <= state.dropped then return state.base end
  local _, units = entry(state, index - 1)
  return units
end

local function newestUs(state)
  if state.entries == state.dropped then return nil end
  return (entry(state, state.entries - 1))
end

local function laterUs(state)
  local us = newestUs(state)
  return us and max(now, us) or now
end

-- The first entry that is newer than a time.
local function firstAfter(state, us)
  local low, high = state.dropped, state.entries
  while low < high do
    local middle = floor((low + high) / 2)
    if entry(state, middle) <= us then low = middle + 1 else high = middle end
  end
  return low
end

-- When the last of the oldest units was taken that have to leave before a cost fits. Nothing if it fits at any time.
local function leavesUs(state, limit, cost)
  local tooMany = unitsBefore(state, state.entries) - state.base + cost - limit[3]
  if tooMany <= 0 then return nil end
  local low, high = state.dropped, state.entries - 1
  while low < high do
    local middle = floor((low + high) / 2)
    if unitsBefore(state, middle + 1) - state.base >= tooMany then high = middle else low = middle + 1 end
  end
  return (entry(state, low))
end

local function fits(state, limit, cost)
  if cost > limit[3] then return false end
  local us = leavesUs(state, limit, cost)
  return not us or us <= laterUs(state) - limit[2]
end

-- Part of what the key holds, from an entry to before another.
local function slice(state, from, to)
  local first, last = HEADER + ENTRY * from, HEADER + ENTRY * to - 1
  if #state.raw == state.bytes then return string.sub(state.raw, first + 1, last + 1) end
  return last < first and '' or call('GETRANGE', state.key, first, last)
end

local function header(state)
  local blockedUs = state.blockedUs > now and state.blockedUs or 0
  return pack('<dddddd', state.dropped, state.base, blockedUs, state.wholeUs, state.keptUs, state.keptUnits)
end

-- Writes all of a log anew, without what was dropped.
local function rewrite(state, entries)
  state.dropped = 0
  state.entries = #entries / ENTRY
  state.wholeUs = state.entries > 0 and unpackWords('<d', entries, #entries - ENTRY + 1) + state.keptUs or 0
  state.raw = header(state) .. entries
  state.bytes = #state.raw
  local untilUs = max(state.wholeUs, state.blockedUs)
  if untilUs > now then
    call('SET', state.key, state.raw, 'PX', ttlMs(untilUs))
  else
    call('DEL', state.key)
  end
end

-- The first entry that any limit may still ask about: it is inside the longest window, and among twice the largest quota.
local function firstNeeded(state, us, units)
  local low, high = firstAfter(state, us - state.keptUs), state.entries
  while low < high do
    local middle = floor((low + high) / 2)
    if unitsBefore(state, middle + 1) <= units - 2 * state.keptUnits then low = middle + 1 else high = middle end
  end
  return low
end

local function take(state, limit, cost)
  local us = laterUs(state)
  local units = unitsBefore(state, state.entries)
  local live = units - unitsBefore(state, firstAfter(state, us - limit[2]))
  local taken = max(0, min(cost, 2 * limit[3] - live))
  state.keptUs, state.keptUnits = max(state.keptUs, limit[2]), max(state.keptUnits, limit[3])
  local first = firstNeeded(state, us, units + taken)
  local base = unitsBefore(state, first)
  -- Units of the same microsecond are one entry.
  local last = state.entries
  if taken > 0 and newestUs(state) == us then last = last - 1 end
  state.dropped, state.base = first, base
  local added = taken > 0 and pack('<dd', us, units + taken) or ''
  if #state.raw == state.bytes or first > state.entries / 2 then
    return rewrite(state, slice(state, first, last) .. added)
  end
  if taken > 0 then state.wholeUs = us + state.keptUs end
  call('SETRANGE', state.key, 0, header(state))
  call('SETRANGE', state.key, HEADER + ENTRY * last, added)
  call('PEXPIRE', state.key, ttlMs(max(state.wholeUs, state.blockedUs)))
  state.entries = last + #added / ENTRY
  state.bytes = HEADER + ENTRY * state.entries
end

-- Gives up the newest units; of those that were taken at a time, the newest that are no newer.
local function refund(state, limit, units, atUs)
  local last = atUs and firstAfter(state, atUs) or state.entries
  local gone = unitsBefore(state, firstAfter(state, laterUs(state) - limit[2]))
  local endUnits = unitsBefore(state, last)
  local given = min(units, max(0, endUnits - gone))
  if given == 0 then return false end
  -- The entries that are kept as they are: the last that end before what is given.
  local kept, high = state.dropped, last
  while kept < high do
    local middle = floor((kept + high + 1) / 2)
    if unitsBefore(state, middle) <= endUnits - given then kept = middle else high = middle - 1 end
  end
  local before = slice(state, state.dropped, kept)
  if unitsBefore(state, kept) < endUnits - given then
    before = before .. pack('<dd', entry(state, kept), endUnits - given)
  end
  local behind, rest = {}, slice(state, last, state.entries)
  for at = 1, #rest, ENTRY do
    local us, until_ = unpackWords('<dd', rest, at)
    behind[#behind + 1] = pack('<dd', us, until_ - given)
  end
  rewrite(state, before .. table.concat(behind))
  return true
end

-- What was taken or given back has been written already, for that is how it is done.
local function save() end

local function report(state, limit, cost, fitted)
  local live = unitsBefore(state, state.entries) - unitsBefore(state, firstAfter(state, laterUs(state) - limit[2]))
  put(live)
  put(newestUs(state) or 0)
  put(not fitted and cost <= limit[3] and leavesUs(state, limit, cost) or 0)
  put(live > 0 and leavesUs(state, limit, max(0, limit[3] - live) + 1) or 0)
end

local function block(key, untilUs)
  local state = open(key)
  if not state then return false end
  if state.bytes == 0 then
    call('SET', key, pack('<dddddd', 0, 0, untilUs, 0, 0, 0), 'PX', ttlMs(untilUs))
  else
    call('SETRANGE', key, 16, pack('<d', untilUs))
    call('PEXPIRE', key, ttlMs(max(state.wholeUs, untilUs)))
  end
  return true
end

return { open = open, fits = fits, take = take, refund = refund, save = save, report = report, block = block }
