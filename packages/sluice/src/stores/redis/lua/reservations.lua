-- Open reservations: a record each, and a sorted set that says when each ends.
--
-- KEYS     record      a string: the numbers opened (epoch µs), end (epoch ms) and the words of the decision's reply, with
--                      commas between, a line feed, and the payload, which only the caller reads
--          ends        a sorted set: the members of open reservations by their end in epoch ms
-- A record belongs to one member of one set. It is removed together with its member by the one call that claims it. Both
-- outlive the end by KEPT_MS, so that units come back even if no process was there for that long.

local KEPT_MS = 2592000000

local function isForeign(key, wanted)
  local kind = call('TYPE', key).ok
  return kind ~= wanted and kind ~= 'none'
end

-- The record of a key, and its first two numbers. Nothing if there is no record.
local function readRecord(key)
  local record = call('GET', key)
  if not record then return nil end
  local opened, ends = string.match(record, '^(%d+),(%d+)')
  return record, tonumber(opened), tonumber(ends)
end

-- May a reservation be opened? Reply: 1 if it may; 2 and the record if it is open; 3 and the record if it has ended and no
-- process has given its units back yet; 6 if a key holds another value or a broken record.
local function begin(keyAt)
  local key = KEYS[keyAt + 1]
  if isForeign(key, 'string') or isForeign(KEYS[keyAt + 2], 'zset') then
    put(6)
    return false
  end
  local record, _, ends = readRecord(key)
  if not record then
    put(1)
    return true
  end
  if not ends then
    put(6)
    return false
  end
  put(ends * 1000 > now and 2 or 3)
  put(record)
  return false
end

-- Keeps the record of a request that was allowed. The words of its reply are those from `from` on. Reply: opened, end.
local function keep(keyAt, member, ttl, payload, from)
  local ends = ceil(now / 1000) + ttl
  local numbers = { format('%d', now), format('%d', ends) }
  for i = from, size do numbers[#numbers + 1] = format('%d', reply[i]) end
  local keptMs = ttl + KEPT_MS
  call('SET', KEYS[keyAt + 1], table.concat(numbers, ',') .. '\n' .. payload, 'PX', format('%d', keptMs))
  call('ZADD', KEYS[keyAt + 2], format('%d', ends), member)
  if call('PTTL', KEYS[keyAt + 2]) < keptMs then call('PEXPIRE', KEYS[keyAt + 2], format('%d', keptMs)) end
  put(now)
  put(ends)
end

-- Removes the record if it is the one that was opened at `opened`, and has ended or not as `hasEnded` (1 or 0) says. So of
-- all calls that end a reservation only one takes effect. Reply: 1 if this call removed it, otherwise 0.
local function claim(keyAt, member, opened, hasEnded)
  local key, ends = KEYS[keyAt + 1], KEYS[keyAt + 2]
  local isSound = not isForeign(key, 'string') and not isForeign(ends, 'zset')
  local record, openedHere, endsHere
  if isSound then record, openedHere, endsHere = readRecord(key) end
  local isClaimed = record and openedHere == opened and (endsHere * 1000 <= now) == (hasEnded == 1)
  if isClaimed then call('DEL', key) end
  -- A member whose record is lost has nothing to give back.
  if isSound and (isClaimed or not record) then call('ZREM', ends, member) end
  put(isClaimed and 1 or 0)
  return isClaimed
end

-- Reply: 1 and the record if there is one, otherwise 0.
local function find(keyAt)
  local key = KEYS[keyAt + 1]
  local record = not isForeign(key, 'string') and readRecord(key)
  put(record and 1 or 0)
  if record then put(record) end
end

-- Reply: how many, and the members that ended first, without the first `from`, `most` at most.
local function due(keyAt, from, most)
  local ends = KEYS[keyAt + 1]
  local nowMs = format('%d', floor(now / 1000))
  local found = not isForeign(ends, 'zset') and call('ZRANGEBYSCORE', ends, '-inf', nowMs, 'LIMIT', from, most) or {}
  put(#found)
  for _, member in ipairs(found) do put(member) end
end

return { begin = begin, keep = keep, claim = claim, find = find, due = due }
