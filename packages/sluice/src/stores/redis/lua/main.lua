-- Decides a batch of requests in one call. The only script there is.
--
-- KEYS     for each step in turn, the keys of its demands: one a demand; for reset and block one for each algorithm;
--          for overrides three
-- ARGV[1]  JSON [[limit, …], [number, …]]: the limits that the steps name by their place, and the steps, end to end
--            limit     [algorithm, its parameters …], as the header of the algorithm's file lists them
--            decide    1, limit, cost, count             `count` requests of one demand each
--            group     2, count, (limit, cost, role)…    one request of `count` demands, met together or not at all; role
--                                                        is 1, or 0 where an earlier one takes for the same state;
--                                                        + 2 for a shadow, which keeps the others from nothing
--            charge    3, limit, cost
--            give back 4, limit, units, 0                the newest units
--                      4, limit, units, 1, at, cost, delay   those that were taken so: µs, units, ms
--                      4, limit, units, 2, at, cost, delay   the same for a request that never went
--            reset     5
--            block     6, duration in µs
--            overrides 7, since which version, how many at most, the version up to which nothing cleared was missed
--                      8, name, value, end in epoch ms or -1
-- Reply    flat whole numbers: the time in epoch µs, then for each demand
--            head      1 if the cost fits + 2 · kind; kinds are 0 usual, 1 blocked, 2 unusual, 3 not ours
--                      and for the usual bucket + 8 · its level in parts, which then is below 2^49
--            until     only of kind 1: the end of the block in epoch µs
--            ahead     only of kinds 1 and 2: for how many µs a bucket's time lies ahead
--            level     only of kinds 1 and 2: of a bucket, in parts
--            report    unless it is not ours: as the header of the algorithm's file lists it
--          for overrides what overrides.lua says, in which names and values are texts;
--          and for reset and block a head alone: 1, or 6 if a key to be blocked holds what is not ours
--
-- A limit's state is one string a key: float64 numbers, little-endian, that mean the same under any numbers of the
-- limit. Behind them may stand the end of a block and the time when the rest is whole; a block alone is its end alone.
-- A log has a layout of its own. Every write sets when the key expires: as soon as its quota is whole again. What asks for
-- no units is a look, and writes nothing. A denial writes nothing, but for the first under new numbers.
--
-- Before this text stands where `now` (epoch µs) and `lingerMs` come from: Redis's clock and 0; in a test that moves
-- time by hand, its argument and longer than the test lasts.

local request = cjson.decode(ARGV[1])
local limits, steps = request[1], request[2]
local reply, size = { now }, 1
local keyAt, at, general = 0, 1, nil
-- Beyond this, a level and what else a head tells do not fit in a float64.
local LARGE = 2 ^ 49
-- Of a decide step, how many requests have been decided.
local done = 0

-- The most frequent thing of all, a token bucket as it usually is, written out: token-bucket.lua says the same, and tests
-- that they agree. Where a state is odd (blocked, foreign, of other numbers too, or from a clock that was ahead), or the
-- limit is large, it leaves that one to the rest.
local call, pcall, pack, unpackWords = redis.call, redis.pcall, struct.pack, struct.unpack
local floor, ceil, format = math.floor, math.ceil, string.format

local function isPlain(limit, cost)
  return limit[1] == 1 and cost > 0 and cost <= limit[4] and limit[4] * limit[2] < LARGE
end

-- A limit as the only user of a bucket: users.ts tells of it.
local function usersOf(limit)
  if not limit.users then
    limit.users = unpackWords('<d', pack('<ff', limit[4] * limit[2] / limit[3], limit[2] / limit[3]))
  end
  return limit.users
end

local function plainLevel(key, limit)
  local raw = pcall('GET', key)
  local partsPerUnit = limit[2]
  local full = limit[4] * partsPerUnit
  if not raw then return full end
  if #raw ~= 24 then return nil end
  local tokens, sinceUs, users = unpackWords('<ddd', raw)
  local gained = (now - sinceUs) * limit[3]
  local stored = floor(tokens * partsPerUnit + 0.5)
  if gained < 0 or stored >= full or stored <= -LARGE or users ~= usersOf(limit) then return nil end
  return gained >= full - stored and full or stored + gained
end

local function savePlain(key, limit, level)
  local full = limit[4] * limit[2]
  local ttlMs = ceil(ceil((full - level) / limit[3]) / 1000) + 1 + lingerMs
  call('SET', key, pack('<ddd', level / limit[2], now, usersOf(limit)), 'PX', format('%d', ttlMs))
end

while steps[at] do
  local step, limit, cost, count = steps[at], limits[steps[at + 1]], steps[at + 2], steps[at + 3]
  local isDone = false

  if step == 1 and isPlain(limit, cost) then
    local parts = cost * limit[2]
    while done < count do
      local key = KEYS[keyAt + done + 1]
      local level = plainLevel(key, limit)
      if not level then break end
      local fits = 0
      if level >= parts then
        fits, level = 1, level - parts
        savePlain(key, limit, level)
      end
      size = size + 1
      reply[size] = fits + 8 * level
      done = done + 1
    end
    isDone = done == count
  elseif step == 2 then
    -- Of a request of several, all is looked at, then all is taken.
    count, isDone = steps[at + 1], true
    local levels, allowed = {}, true
    for i = 1, count do
      local limit, cost, role = limits[steps[at + 3 * i - 1]], steps[at + 3 * i], steps[at + 3 * i + 1]
      local level = role == 1 and isPlain(limit, cost) and plainLevel(KEYS[keyAt + i], limit)
      if not level then
        isDone = false
        break
      end
      levels[i] = level
      if level < cost * limit[2] then allowed = false end
    end
    for i = 1, isDone and count or 0 do
      local limit, level = limits[steps[at + 3 * i - 1]], levels[i]
      local parts = steps[at + 3 * i] * limit[2]
      local fits = level >= parts and 1 or 0
      if allowed then
        level = level - parts
        savePlain(KEYS[keyAt + i], limit, level)
      end
      size = size + 1
      reply[size] = fits + 8 * level
    end
  end

  if not isDone then
    -- All else is set up when the first step asks for it, because a batch is often one plain request.
    general = general or (function()
      -- GENERAL
    end)()
  end

  if step == 1 then
    if done < count then
      general.decide(KEYS[keyAt + done + 1], limit, cost)
      done = done + 1
    end
    if done == count then
      keyAt, at, done = keyAt + count, at + 4, 0
    end
  elseif step == 2 then
    if not isDone then general.decideGroup(keyAt, at + 2, count) end
    keyAt, at = keyAt + count, at + 2 + 3 * count
  elseif step == 3 then
    general.charge(KEYS[keyAt + 1], limit, cost)
    keyAt, at = keyAt + 1, at + 3
  elseif step == 4 then
    -- Give back: `cost` units, and `count` says what is known of how they were taken.
    if count > 0 then
      general.refund(KEYS[keyAt + 1], limit, cost, steps[at + 4], steps[at + 5], steps[at + 6], count == 2)
      at = at + 7
    else
      general.refund(KEYS[keyAt + 1], limit, cost)
      at = at + 4
    end
    keyAt = keyAt + 1
  elseif step == 5 then
    general.reset(keyAt)
    keyAt, at = keyAt + 6, at + 1
  elseif step == 6 then
    general.block(keyAt, steps[at + 1])
    keyAt, at = keyAt + 6, at + 2
  elseif step == 7 then
    general.overrides().changes(keyAt, steps[at + 1], steps[at + 2], steps[at + 3])
    keyAt, at = keyAt + 3, at + 4
  else
    general.overrides().set(keyAt, steps[at + 1], steps[at + 2], steps[at + 3])
    keyAt, at = keyAt + 3, at + 4
  end
end

return reply
