-- Decides a batch of requests in one call. It is the only script.
--
-- KEYS     for each step in turn, the Redis keys of its states: one for each demand; for reset and block all that are
--          named; for overrides three
-- ARGV     A batch in which every request has one demand, with the same limit and cost:
--            [1]       the cost
--            [2 …]     the limit
--          Any other batch:
--            [1]       JSON [[limit, …], [number, …]]: the limits, and the steps, end to end. Steps name a limit by its
--                      index, from 1
--          A limit is its algorithm's number and its parameters, in the order of the header of the algorithm's file.
--          Steps:
--            decide    1, limit, cost, count             `count` requests of one demand each
--            group     2, count, (limit, cost, role)…    one request of `count` demands: takes from all or from none.
--                                                        The role is 1, or 0 if an earlier demand takes for the same
--                                                        state; + 2 for a shadow, whose denial does not deny the request
--            charge    3, limit, cost
--            refund    4, limit, units, 0                    the newest units
--                      4, limit, units, 1, at, cost, delay   the units taken so: µs, units, ms
--                      4, limit, units, 2, at, cost, delay   the same, for a request that never went
--            reset     5, count
--            block     6, count, duration in µs
--            overrides 7, since which version, how many at most, the version up to which no removal was missed
--                      8, name, value, end in epoch ms or -1
-- Reply    flat whole numbers: the time in epoch µs, then for each demand
--            head      1 if the cost fits + 2 · kind. Kinds are 0 usual, 1 blocked, 2 unusual, 3 not a state.
--                      A usual bucket adds 8 · its tokens in parts, which are below 2^49
--            until     only kind 1: the end of the block in epoch µs
--            ahead     only kinds 1 and 2: how many µs a bucket's time lies ahead
--            tokens    only kinds 1 and 2: of a bucket, in parts
--            report    all kinds but 3: as the header of the algorithm's file says
--          for overrides as overrides.lua says; names and values are texts;
--          for reset and block a head alone: 1, or 6 if a key to be blocked holds no state
--
-- A state is one string: float64 numbers, little-endian. They are units and times, so they mean the same under any quota
-- and rate. A blocked key has 17 more bytes: the end of the block, the time when the state is whole, and the letter b.
-- Every write sets the expiry: the millisecond after which the state is whole for the limit that wrote it, or the block
-- is over. A look (cost 0) and a denial write nothing.
--
-- Before this text stand two lines that set `now` (epoch µs) and `lingerMs`: from the clock of Redis, and 0; or, in a test
-- that moves time by hand, from the last argument, and longer than the test lasts.

local call, pcall, pack, unpackWords = redis.call, redis.pcall, struct.pack, struct.unpack
local floor, ceil, format = math.floor, math.ceil, string.format
local reply, size = { now }, 1
-- Tokens of more parts than this do not fit in a head.
local LARGE = 2 ^ 49

local limits, steps
if tonumber(ARGV[1]) then
  local limit = {}
  for i = 2, #ARGV do limit[i - 1] = tonumber(ARGV[i]) end
  limits, steps = { limit }, { 1, 1, tonumber(ARGV[1]), #KEYS }
else
  local request = cjson.decode(ARGV[1])
  limits, steps = request[1], request[2]
end

-- FAST

local made = nil

-- Set up when a step first needs it, because a batch is often one request that takes a fast path.
local function general()
  made = made or (function()
    -- GENERAL
  end)()
  return made
end

local keyAt, at = 0, 1
while steps[at] do
  local step = steps[at]
  if step == 1 then
    local limit, cost, count = limits[steps[at + 1]], steps[at + 2], steps[at + 3]
    local fast = fastOf(limit)
    for i = keyAt + 1, keyAt + count do
      local key, fits, x, y = KEYS[i], nil, nil, nil
      if fast then fits, x, y = fast.look(key, limit, cost) end
      if fits == nil then
        general().decide(key, limit, cost)
      else
        if fits and cost > 0 then x, y = fast.take(key, limit, cost, x, y) end
        fast.report(limit, fits, x, y)
      end
    end
    keyAt, at = keyAt + count, at + 4
  elseif step == 2 then
    local count = steps[at + 1]
    if not decideFast(keyAt, at + 2, count) then general().decideGroup(keyAt, at + 2, count) end
    keyAt, at = keyAt + count, at + 2 + 3 * count
  elseif step == 3 then
    general().charge(KEYS[keyAt + 1], limits[steps[at + 1]], steps[at + 2])
    keyAt, at = keyAt + 1, at + 3
  elseif step == 4 then
    local key, limit, units, known = KEYS[keyAt + 1], limits[steps[at + 1]], steps[at + 2], steps[at + 3]
    if known == 0 then
      general().refund(key, limit, units)
    else
      general().refund(key, limit, units, steps[at + 4], steps[at + 5], steps[at + 6], known == 2)
    end
    keyAt, at = keyAt + 1, at + (known == 0 and 4 or 7)
  elseif step == 5 then
    general().reset(keyAt, steps[at + 1])
    keyAt, at = keyAt + steps[at + 1], at + 2
  elseif step == 6 then
    general().block(keyAt, steps[at + 1], steps[at + 2])
    keyAt, at = keyAt + steps[at + 1], at + 3
  elseif step == 7 then
    general().overrides().changes(keyAt, steps[at + 1], steps[at + 2], steps[at + 3])
    keyAt, at = keyAt + 3, at + 4
  else
    general().overrides().set(keyAt, steps[at + 1], steps[at + 2], steps[at + 3])
    keyAt, at = keyAt + 3, at + 4
  end
end

return reply
