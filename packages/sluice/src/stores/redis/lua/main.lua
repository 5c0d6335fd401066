-- Decides a batch of requests in one call. It is the only script.
--
-- KEYS     for each step in turn, the Redis keys of its states: one for each demand; for reset and block all that are
--          named, the token bucket first; for overrides three; for a reservation its record and the set of ends, then
--          those of its demands; for a lease the state and the guard
-- ARGV     A batch in which every request has one demand, with the same limit and cost:
--            [1]       the cost
--            [2 …]     the limit
--          Any other batch:
--            [1]       JSON [[limit, …], [number, …], [rule, …]]: the limits, the steps, end to end, and the rules by
--                      which keys that exceed are blocked. Steps name a limit or a rule by its index, from 1
--          A limit is its algorithm's number and its parameters, in the order of the header of the algorithm's file.
--          Steps:
--            decide    1, limit, cost, count             `count` requests of one demand each
--            group     2, count, (limit, cost, role)…    one request of `count` demands: takes from all or from none.
--                                                        The role is 1, or 0 if an earlier demand takes for the same
--                                                        state; + 2 for a shadow, whose denial does not deny the
--                                                        request; + 4 · the rule that blocks the key if it exceeds
--            charge    3, limit, cost
--            refund    4, limit, units, 0, 0, 0, 0           the newest units
--                      4, limit, units, 1, at, cost, delay   the units taken so: µs, units, ms
--                      4, limit, units, 2, at, cost, delay   the same, for a request that never went
--            reset     5, count
--            block     6, count, duration in µs
--            overrides 7, since which version, how many at most, the version up to which no removal was missed
--                      8, name, value, end in epoch ms or -1
--            open      9, member, ttl in ms, payload, count, (limit, cost, role)…
--                                                        a group that is decided and kept if its record is not open yet
--            claim     10, member, opened in µs, 1 if it must have ended or 0 if it must not, numbers, keys
--                                                        ends a reservation. If this call does not end it, so many
--                                                        numbers and keys behind this step are skipped
--            find      11                                a record
--            due       12, how many to pass, how many at most
--                                                        the reservations that have ended; its only key is the set
--            peek      13, count, (limit, cost, role)…   a group that takes nothing. Its roles have no rules
--            set       14, limit, units                  takes units from a fresh state; a block stays
--            lease     15, limit, units wanted, lease in µs, number of the request, count, (round, spent, unspent)…
--                                                        gives back what is left of `count` leases of a node, and leases
--                                                        units to it, as leases.lua says
-- Reply    flat whole numbers: the time in epoch µs, then for each demand
--            head      1 if the cost fits + 2 · kind. Kinds are 0 usual, 1 blocked, 2 unusual, 3 not a state.
--                      A usual bucket adds 8 · its tokens in parts, which are below 2^49. Kinds 1 and 2 add 8 if
--                      units are on lease
--            until     only kind 1: the end of the block in epoch µs
--            ahead     only kinds 1 and 2: how many µs a bucket's time lies ahead
--            tokens    only kinds 1 and 2: of a bucket, in parts
--            leases    only if units are on lease: as leased-bucket.lua says
--            report    all kinds but 3: as the header of the algorithm's file says
--          for overrides as overrides.lua says; names and values are texts; for reservations as reservations.lua says;
--          for a lease the report of the state, for a cost of 0, and then as leases.lua says;
--          for reset and block a head alone: 1, or 6 if a key to be blocked holds no state
--
-- A state is one string: float64 numbers, little-endian. They are units and times, so they mean the same under any quota
-- and rate. A key with a block has 17 or 33 more bytes, which general.lua describes. A rule is [first block in µs, factor,
-- longest block in µs, how long in µs a block is remembered after its end].
-- Every write sets the expiry: the millisecond after which the state is whole for the limit that wrote it, and the block
-- is over and forgotten. A look (cost 0) and a denial write nothing, except the block of a key that exceeds.
--
-- Before this text stand two lines that set `now` (epoch µs) and `lingerMs`: from the clock of Redis, and 0; or, in a test
-- that moves time by hand, from the last argument, and longer than the test lasts.

local call, pcall, pack, unpackWords = redis.call, redis.pcall, struct.pack, struct.unpack
local floor, ceil, max, min, format = math.floor, math.ceil, math.max, math.min, string.format
local reply, size = { now }, 1
-- Tokens of more parts than this do not fit in a head.
local LARGE = 2 ^ 49
local onlyCost, done = tonumber(ARGV[1]), 0

-- The token bucket, the most frequent limit, is written out before anything else is set up. Tests check that it decides
-- as bucket.lua does. Its tokens are in parts.

-- The tokens of a key now. Nothing if the key is unusual: blocked, without a state, or a state that has seen a later time.
local function tokensOf(key, unit, perUs, full)
  local raw = pcall('GET', key)
  if not raw then return full end
  if #raw ~= 16 then return nil end
  local units, sinceUs = unpackWords('<dd', raw)
  local tokens = floor(units * unit + 0.5)
  local gained = (now - sinceUs) * perUs
  if not (gained >= 0 and sinceUs % 1 == 0 and tokens > -LARGE) then return nil end
  return gained >= full - tokens and full or tokens + gained
end

local function writeTokens(key, tokens, unit, perUs, full)
  local ttl = ceil(ceil((full - tokens) / perUs) / 1000) + 1 + lingerMs
  call('SET', key, pack('<dd', tokens / unit, now), 'PX', format('%d', ttl))
end

-- A batch of one token bucket. The first key that is unusual ends it: the rest of the batch takes the general form.
if onlyCost and ARGV[2] == '1' then
  local unit, perUs = tonumber(ARGV[3]), tonumber(ARGV[4])
  local full, parts = tonumber(ARGV[5]) * unit, onlyCost * unit
  for i = 1, full < LARGE and #KEYS or 0 do
    local tokens = tokensOf(KEYS[i], unit, perUs, full)
    if not tokens then break end
    local fits = tokens >= parts
    if fits and onlyCost > 0 then
      tokens = tokens - parts
      writeTokens(KEYS[i], tokens, unit, perUs, full)
    end
    done, size = i, size + 1
    reply[size] = (fits and 1 or 0) + 8 * tokens
  end
  if done == #KEYS then return reply end
end

local limits, steps, rules

-- The PX of a key that has to last until a time. The expiry counts from the millisecond that has begun, hence one more.
-- Formatted here, because Redis is slower at it. Many keys of a batch last until the same time.
local lastMs, lastText
local function ttlMs(untilUs)
  local ms = ceil((untilUs - now) / 1000) + 1 + lingerMs
  if ms ~= lastMs then lastMs, lastText = ms, format('%d', ms) end
  return lastText
end

local fasts = {}

-- The fast path of a limit, or false.
local function fastOf(limit)
  if fasts[limit] == nil then
    local look, take, report = (function(...)
      -- FAST
    end)(limit)
    fasts[limit] = look and { look = look, take = take, report = report } or false
  end
  return fasts[limit]
end

-- The rest of the script is set up when a step first needs it: a batch is often one request on a fast path. Inside a function,
-- because Lua makes a function slowly among many others. Leases of token buckets need less of it than `general`.
local made
local function states()
  made = made or (function()
    -- STATES
  end)()
  return made
end

local function general()
  return states().general()
end

-- Decides requests of one demand each, for the keys behind `keyAt`.
local function decideEach(limit, cost, keyAt, count)
  local fast = fastOf(limit)
  for i = keyAt + 1, keyAt + count do
    local key, fits, x, y = KEYS[i], nil, nil, nil
    if fast then fits, x, y = fast.look(key, cost) end
    if fits == nil then
      general().decide(key, limit, cost)
    else
      if fits and cost > 0 then x, y = fast.take(key, cost, x, y) end
      fast.report(fits, x, y)
    end
  end
end

-- Decides one request of several demands: looks at all, then takes from all, unless it only peeks. Returns whether it is
-- allowed; nothing, and has done nothing, if a demand is unusual, is a shadow, shares its state with another, or exceeds and
-- has a rule.
local function decideTogether(keyAt, at, count, isPeek)
  local seen, allowed = {}, true
  for i = 1, count do
    local limit, cost, role = limits[steps[at + 3 * i - 3]], steps[at + 3 * i - 2], steps[at + 3 * i - 1]
    local fast = role % 4 == 1 and fastOf(limit)
    local fits, x, y
    if fast then fits, x, y = fast.look(KEYS[keyAt + i], cost) end
    if fits == nil or (not fits and role >= 4) then return nil end
    seen[3 * i - 2], seen[3 * i - 1], seen[3 * i] = fits, x, y or 0
    allowed = allowed and fits
  end
  for i = 1, count do
    local fast, cost = fastOf(limits[steps[at + 3 * i - 3]]), steps[at + 3 * i - 2]
    local x, y = seen[3 * i - 1], seen[3 * i]
    if allowed and cost > 0 and not isPeek then x, y = fast.take(KEYS[keyAt + i], cost, x, y) end
    fast.report(seen[3 * i - 2], x, y)
  end
  return allowed
end

local function decideRequest(keyAt, at, count, isPeek)
  local allowed = decideTogether(keyAt, at, count, isPeek)
  if allowed == nil then allowed = general().decideGroup(keyAt, at, count, isPeek) end
  return allowed
end

if onlyCost then
  local limit = {}
  for i = 2, #ARGV do limit[i - 1] = tonumber(ARGV[i]) end
  decideEach(limit, onlyCost, done, #KEYS - done)
  return reply
end

local request = cjson.decode(ARGV[1])
limits, steps, rules = request[1], request[2], request[3]
local keyAt, at = 0, 1
while steps[at] do
  local step = steps[at]
  if step == 1 then
    decideEach(limits[steps[at + 1]], steps[at + 2], keyAt, steps[at + 3])
    keyAt, at = keyAt + steps[at + 3], at + 4
  elseif step == 2 or step == 13 then
    local count = steps[at + 1]
    decideRequest(keyAt, at + 2, count, step == 13)
    keyAt, at = keyAt + count, at + 2 + 3 * count
  elseif step == 3 then
    general().charge(KEYS[keyAt + 1], limits[steps[at + 1]], steps[at + 2])
    keyAt, at = keyAt + 1, at + 3
  elseif step == 4 then
    local limit, units, known = limits[steps[at + 1]], steps[at + 2], steps[at + 3]
    local atUs = known > 0 and steps[at + 4] or nil
    general().refund(KEYS[keyAt + 1], limit, units, atUs, steps[at + 5], steps[at + 6], known == 2)
    keyAt, at = keyAt + 1, at + 7
  elseif step == 5 then
    general().reset(keyAt, steps[at + 1])
    keyAt, at = keyAt + steps[at + 1], at + 2
  elseif step == 6 then
    general().block(keyAt, steps[at + 1], steps[at + 2])
    keyAt, at = keyAt + steps[at + 1], at + 3
  elseif step == 7 then
    general().overrides().changes(keyAt, steps[at + 1], steps[at + 2], steps[at + 3])
    keyAt, at = keyAt + 3, at + 4
  elseif step == 8 then
    general().overrides().set(keyAt, steps[at + 1], steps[at + 2], steps[at + 3])
    keyAt, at = keyAt + 3, at + 4
  elseif step == 9 then
    local reservations, count, from = general().reservations(), steps[at + 4], size + 2
    if reservations.begin(keyAt) and decideRequest(keyAt + 2, at + 5, count) then
      reservations.keep(keyAt, steps[at + 1], steps[at + 2], steps[at + 3], from)
    end
    keyAt, at = keyAt + 2 + count, at + 5 + 3 * count
  elseif step == 10 then
    local isClaimed = general().reservations().claim(keyAt, steps[at + 1], steps[at + 2], steps[at + 3])
    local numbers, keys = steps[at + 4], steps[at + 5]
    keyAt, at = keyAt + 2 + (isClaimed and 0 or keys), at + 6 + (isClaimed and 0 or numbers)
  elseif step == 11 then
    general().reservations().find(keyAt)
    keyAt, at = keyAt + 1, at + 1
  elseif step == 12 then
    general().reservations().due(keyAt, steps[at + 1], steps[at + 2])
    keyAt, at = keyAt + 1, at + 3
  elseif step == 14 then
    general().set(KEYS[keyAt + 1], limits[steps[at + 1]], steps[at + 2])
    keyAt, at = keyAt + 1, at + 3
  else
    local limit, want, leaseUs, sequence = limits[steps[at + 1]], steps[at + 2], steps[at + 3], steps[at + 4]
    local leases, count = states().leases(), steps[at + 5]
    local exchange = limit[1] == 1 and leases.bucket or leases.window
    exchange(KEYS[keyAt + 1], KEYS[keyAt + 2], limit, want, leaseUs, sequence, at + 6, count)
    keyAt, at = keyAt + 2, at + 6 + 3 * count
  end
end

return reply
