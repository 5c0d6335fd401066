-- Twin of log-arithmetic.ts, for sliding logs and concurrency limits. A short log is read and written as a whole. Of a long
-- one only the part that is needed is read, and units are appended to it.
--
-- Words    a header of two: how many entries at the front are dropped, and how many units with them. Then entries of two,
--          oldest first: a time, and how many units were taken until then, dropped ones included
-- Limit    [algorithm, window or ttl in µs, quota or max]
-- Report   units inside the window; the newest unit's time; when the last unit was taken that has to leave before the
--          cost fits; the same for one more unit. A time is 0 if there is no such unit

local HEADER, ENTRY = 16, 16
local SHORT = HEADER + 64 * ENTRY

local function open(key)
  local raw = pcall('GETRANGE', key, 0, SHORT - 1)
  if type(raw) ~= 'string' then return nil end
  local bytes = #raw == SHORT and call('STRLEN', key) or #raw
  local state = { key = key, dropped = 0, base = 0, block = NO_BLOCK, entries = 0 }
  if bytes % 8 == 1 then
    local block, blockBytes = readBlock(call('GETRANGE', key, -REMEMBERED, -1))
    if not block then return nil end
    state.block = block
    bytes = bytes - blockBytes
    raw = string.sub(raw, 1, bytes)
  end
  state.raw, state.bytes = raw, bytes
  if bytes == 0 then return state end
  if bytes < HEADER or (bytes - HEADER) % ENTRY ~= 0 then return nil end
  state.dropped, state.base = unpackWords('<dd', raw)
  state.entries = (bytes - HEADER) / ENTRY
  state.stored = true
  if not (isWhole(state.dropped) and state.dropped <= state.entries and isWhole(state.base)) then return nil end
  return state
end

-- The time of an entry, and the units until then.
local function entry(state, index)
  local at = HEADER + ENTRY * index
  if at + ENTRY <= #state.raw then return unpackWords('<dd', state.raw, at + 1) end
  return unpackWords('<dd', call('GETRANGE', state.key, at, at + ENTRY - 1))
end

-- The units before an entry.
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

-- The first index from `low` on for which a condition holds, or `high` if it holds for none before. From there it holds on.
local function firstIndex(low, high, holds)
  while low < high do
    local middle = floor((low + high) / 2)
    if holds(middle) then high = middle else low = middle + 1 end
  end
  return low
end

-- The first entry that is newer than a time.
local function firstAfter(state, us)
  return firstIndex(state.dropped, state.entries, function(index) return entry(state, index) > us end)
end

-- When the last unit was taken that has to leave before a cost fits; nothing if the cost fits without that.
local function leavesUs(state, limit, cost)
  local tooMany = unitsBefore(state, state.entries) - state.base + cost - limit[3]
  if tooMany <= 0 then return nil end
  return (entry(state, firstIndex(state.dropped, state.entries - 1, function(index)
    return unitsBefore(state, index + 1) - state.base >= tooMany
  end)))
end

local function fits(state, limit, cost)
  if cost > limit[3] then return false end
  local us = leavesUs(state, limit, cost)
  return not us or us <= laterUs(state) - limit[2]
end

-- The entries from one index to before another, as they are stored.
local function slice(state, from, to)
  local first, last = HEADER + ENTRY * from, HEADER + ENTRY * to - 1
  if #state.raw == state.bytes then return string.sub(state.raw, first + 1, last + 1) end
  return last < first and '' or call('GETRANGE', state.key, first, last)
end

-- Writes the whole log again, without the entries that were dropped.
local function rewrite(state, limit, entries)
  state.dropped, state.entries = 0, #entries / ENTRY
  state.raw = pack('<dd', 0, state.base) .. entries
  state.bytes = #state.raw
  local wholeUs = state.entries > 0 and newestUs(state) + limit[2] or now
  write(state.key, state.raw, wholeUs, state.block)
end

local function take(state, limit, cost)
  local us = laterUs(state)
  local units = unitsBefore(state, state.entries)
  local from = firstAfter(state, us - limit[2])
  local base = unitsBefore(state, from)
  -- A debt of one quota at most is remembered.
  local taken = max(0, min(cost, 2 * limit[3] - (units - base)))
  -- Units of the same microsecond are one entry.
  local last = state.entries
  if taken > 0 and newestUs(state) == us then last = last - 1 end
  state.dropped, state.base = from, base
  local added = taken > 0 and pack('<dd', us, units + taken) or ''
  if #state.raw == state.bytes or from > state.entries / 2 or state.block ~= NO_BLOCK or taken == 0 then
    return rewrite(state, limit, slice(state, from, last) .. added)
  end
  call('SETRANGE', state.key, 0, pack('<dd', from, base))
  call('SETRANGE', state.key, HEADER + ENTRY * last, added)
  call('PEXPIRE', state.key, ttlMs(us + limit[2]))
  state.entries = last + 1
  state.bytes = HEADER + ENTRY * state.entries
end

-- Removes the newest units; if a time is given, the newest that are no newer.
local function refund(state, limit, units, atUs)
  local last = atUs and firstAfter(state, atUs) or state.entries
  local expired = unitsBefore(state, firstAfter(state, laterUs(state) - limit[2]))
  local endUnits = unitsBefore(state, last)
  local removed = min(units, max(0, endUnits - expired))
  if removed == 0 then return false end
  -- The entries before `kept` stay as they are.
  local kept = firstIndex(state.dropped, last, function(index)
    return unitsBefore(state, index + 1) > endUnits - removed
  end)
  local before = slice(state, state.dropped, kept)
  if unitsBefore(state, kept) < endUnits - removed then
    before = before .. pack('<dd', entry(state, kept), endUnits - removed)
  end
  local behind, rest = {}, slice(state, last, state.entries)
  for at = 1, #rest, ENTRY do
    local us, until_ = unpackWords('<dd', rest, at)
    behind[#behind + 1] = pack('<dd', us, until_ - removed)
  end
  rewrite(state, limit, before .. table.concat(behind))
  return true
end

-- `take` and `refund` have written already, because only they know which part changed.
local function save() end

local function report(state, limit, cost, fitted)
  local live = unitsBefore(state, state.entries) - unitsBefore(state, firstAfter(state, laterUs(state) - limit[2]))
  put(live)
  put(newestUs(state) or 0)
  put(not fitted and cost <= limit[3] and leavesUs(state, limit, cost) or 0)
  put(live > 0 and leavesUs(state, limit, min(max(0, limit[3] - live) + 1, limit[3])) or 0)
end

return { open = open, fits = fits, take = take, refund = refund, save = save, report = report }
