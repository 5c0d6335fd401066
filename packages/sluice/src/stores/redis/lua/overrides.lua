-- The overrides of a policy's levels. An override is the limits of one key.
--
-- KEYS     values      a hash: the override of each `level/key`, or an empty text once it is removed; also #version, #floor
--          versions    a sorted set: when each was set last. A version is the time in epoch µs; no two are equal
--          ends        a sorted set: when each ends or ended, in epoch ms; overrides without an end are not in it
-- A reader asks for the overrides set after the version it knows. One that has ended is kept for an hour, so that readers
-- hear of its end, and is then cleared. #floor is the latest version that was cleared. A reader whose version is older
-- starts over.

local KEPT_MS = 3600000
local MOST_CLEARED = 100

local function numberIn(values, field)
  return tonumber(call('HGET', values, field) or 0)
end

-- Do the keys hold values of other types?
local function isForeign(keyAt)
  for i, wanted in ipairs({ 'hash', 'zset', 'zset' }) do
    local kind = call('TYPE', KEYS[keyAt + i]).ok
    if kind ~= wanted and kind ~= 'none' then return true end
  end
  return false
end

-- The changes after `since`, oldest first, `most` at most. Up to the version `base` the reader has missed no removal that
-- was cleared: `base` is `since` or, while the reader reads page by page from the start, the later version at which it
-- began. If #floor is above `base`, the reader may have missed a removal. If #version is below it, Redis has lost
-- overrides. In both cases the answer begins at the start.
-- Reply: 1, the version, after which version the answer begins (0: at the start), how many, and of each its name, version
-- and value.
local function changes(keyAt, since, most, base)
  local values = KEYS[keyAt + 1]
  if isForeign(keyAt) then return put(6) end
  local version = numberIn(values, '#version')
  if base > version or base < numberIn(values, '#floor') then since = 0 end
  put(1)
  put(version)
  put(since)
  local found = {}
  if since < version then
    local after = '(' .. format('%d', since)
    found = call('ZRANGEBYSCORE', KEYS[keyAt + 2], after, '+inf', 'WITHSCORES', 'LIMIT', 0, most)
  end
  local names = {}
  for i = 1, #found, 2 do names[#names + 1] = found[i] end
  put(#names)
  local texts = #names > 0 and call('HMGET', values, unpack(names))
  for i, name in ipairs(names) do
    put(name)
    put(tonumber(found[2 * i]))
    put(texts[i] or '')
  end
end

-- Reply: 1, and the version; 0 instead of the version if the end is over, and nothing was set.
local function set(keyAt, name, value, untilMs)
  local values, versions, ends = KEYS[keyAt + 1], KEYS[keyAt + 2], KEYS[keyAt + 3]
  local nowMs = floor(now / 1000)
  if isForeign(keyAt) then return put(6) end
  put(1)
  if untilMs >= 0 and untilMs <= nowMs then return put(0) end
  local last = numberIn(values, '#version')
  local version = max(now, last + 1)
  -- If there are no overrides, Redis may have lost them all: every reader that has a copy starts over.
  if last == 0 then call('HSET', values, '#floor', format('%d', version)) end
  call('HSET', values, name, value, '#version', format('%d', version))
  call('ZADD', versions, format('%d', version), name)
  if value == '' then untilMs = nowMs end
  if untilMs >= 0 then
    call('ZADD', ends, format('%d', untilMs), name)
  else
    call('ZREM', ends, name)
  end
  local cleared = numberIn(values, '#floor')
  for _, over in ipairs(call('ZRANGEBYSCORE', ends, '-inf', format('%d', nowMs - KEPT_MS), 'LIMIT', 0, MOST_CLEARED)) do
    cleared = max(cleared, tonumber(call('ZSCORE', versions, over) or 0))
    call('HDEL', values, over)
    call('ZREM', versions, over)
    call('ZREM', ends, over)
    call('HSET', values, '#floor', format('%d', cleared))
  end
  put(version)
end

return { changes = changes, set = set }
