-- The overrides of a policy's levels, each the limits of one key.
--
-- KEYS     values      a hash: what stands for each `level/key`, or nothing once it is removed; and #version, #floor
--          versions    a sorted set: when each was set last. A version is the time in epoch µs, and never twice the same
--          ends        a sorted set: when each that ends comes or came to its end, in epoch ms
-- A reader asks what was set since the version it knows. What has ended is kept for an hour, so that readers hear of it;
-- #floor is the latest version that was cleared after that. A reader that needs to hear of it starts over.

local KEPT_MS = 3600000
local MOST_CLEARED = 100

local function numberIn(values, field)
  return tonumber(call('HGET', values, field) or 0)
end

-- Something else may be where these should be.
local function isForeign(keyAt)
  for i, wanted in ipairs({ 'hash', 'zset', 'zset' }) do
    local kind = call('TYPE', KEYS[keyAt + i]).ok
    if kind ~= wanted and kind ~= 'none' then return true end
  end
  return false
end

-- The changes after `since`, oldest first, `most` at most. `base` is the version up to which the reader has missed nothing
-- that was cleared: `since`, or, if the reader reads page by page from the start, the version when it began, if that is
-- later. A floor above it means that the reader may have missed a removal; a version below it means that Redis has lost
-- what it had. In both cases the answer begins at the start.
-- Reply: 1, the version, from which version on (0 is from the start), how many, and of each its name, version and value.
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

-- Reply: 1, and the version, or 0 for a time that is over and refused.
local function set(keyAt, name, value, untilMs)
  local values, versions, ends = KEYS[keyAt + 1], KEYS[keyAt + 2], KEYS[keyAt + 3]
  local nowMs = floor(now / 1000)
  if isForeign(keyAt) then return put(6) end
  put(1)
  if untilMs >= 0 and untilMs <= nowMs then return put(0) end
  local last = numberIn(values, '#version')
  local version = max(now, last + 1)
  -- Where there is nothing, all may have been lost: whoever knows anything starts over.
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
