-- Decides a batch of requests in one call. The only script there is.
--
-- KEYS     for each step in turn, the keys of its demands: one a demand; for reset and block one for each algorithm
-- ARGV[1]  JSON [[limit, …], [number, …]]: the limits that the steps name by their place, and the steps, end to end
--            limit     [algorithm, its parameters …], as the header of the algorithm's file lists them
--            decide    1, limit, cost, count             `count` requests of one demand each
--            group     2, count, (limit, cost, takes)…   one request of `count` demands, met together or not at all;
--                                                        takes is 0 where an earlier one takes for the same state
--            charge    3, limit, cost
--            give back 4, limit, units, 0                the newest units
--                      4, limit, units, 1, at, cost, delay   those that were taken so: µs, units, ms
--            reset     5
--            block     6, duration in µs
-- Reply    flat whole numbers: the time in epoch µs, then for each demand
--            status    1 if the cost fits, + 2 if the key is blocked, + 4 if what the key holds is not ours
--            until     only if blocked: the end of the block in epoch µs
--            report    unless it is not ours: as the header of the algorithm's file lists it
--          and for reset and block a status of 1.
--
-- A limit's state is one string a key: float64 numbers, little-endian, that mean the same under any numbers of the
-- limit; one more at the end is the end of a block. A sliding log has a layout of its own. Every write sets when the
-- key expires: as soon as its quota is whole again. A denial writes nothing.
--
-- An algorithm's file gives a table of functions:
--   open(key, limit)                     the state, brought up to now; nil if what is there is not ours
--   fits(state, limit, cost)             as in the arithmetic of the same name
--   take(state, limit, cost)
--   giveBack(state, limit, units, atUs, cost, delayMs)   says whether anything was given
--   save(key, state, limit)              writes a state that was changed, or deletes it if it is whole
--   report(state, limit, cost, fits)     appends the numbers that the caller describes the state by
--   block(key, untilUs)                  adds the end of a block to whatever the key holds
-- A state has `stored`, unless the key held none, and `blockedUs`, the end of its block, or 0.
--
-- Before this text stands where `now` (epoch µs) and `lingerMs` come from: Redis's clock and 0; in a test that moves
-- time by hand, its argument and longer than the test lasts.

local call, pcall = redis.call, redis.pcall
local pack, unpackWords = struct.pack, struct.unpack
local floor, ceil, max, min = math.floor, math.ceil, math.max, math.min
local format = string.format

local request = cjson.decode(ARGV[1])
local limits, steps = request[1], request[2]
local reply, size = { now }, 1

-- The PX of a key that has to last until a time. It counts from the whole millisecond that has begun, hence one more;
-- and Redis itself is slower to format a number.
local function ttlMs(untilUs)
  return format('%d', ceil((untilUs - now) / 1000) + 1 + lingerMs)
end

-- All that a batch may need besides the most frequent thing of all. It is set up when the first step asks for it,
-- because a batch is often one request.
local function setUp()
  local function put(number)
    size = size + 1
    reply[size] = number
  end

  -- What a key holds: its words, if there are `length` bytes of them, and the end of its block; nothing for what no limit
  -- wrote. `length` may be a function of what is there.
  local function read(key, length)
    local raw = pcall('GET', key)
    if not raw then return false, 0 end
    if type(raw) ~= 'string' then return nil end
    if #raw == 8 then return false, (unpackWords('<d', raw)) end
    if type(length) == 'function' then length = length(raw) end
    if #raw == length then return raw, 0 end
    if #raw == length + 8 then return raw, (unpackWords('<d', raw, length + 1)) end
    return nil
  end

  -- Writes words that expire at `wholeUs`, or at the end of a block; if that is past, there is nothing to remember.
  local function write(key, words, wholeUs, blockedUs)
    if blockedUs > now then
      words = words .. pack('<d', blockedUs)
      wholeUs = max(wholeUs, blockedUs)
    end
    if wholeUs > now then
      call('SET', key, words, 'PX', ttlMs(wholeUs))
    else
      call('DEL', key)
    end
  end

  -- The PX of a key that lives until a time, and no shorter than it would anyway.
  local function longerMs(key, untilUs)
    return format('%d', max(ttlMs(untilUs), call('PTTL', key)))
  end

  -- Puts the end of a block behind `length` bytes of words, or where there are none, for a limit that nobody named. The
  -- state goes on living for as long as it did.
  local function writeBlock(key, untilUs, length)
    local raw = read(key, length) or ''
    if type(length) == 'function' and raw ~= '' then length = length(raw) end
    local words = raw == '' and raw or string.sub(raw, 1, length)
    call('SET', key, words .. pack('<d', untilUs), 'PX', longerMs(key, untilUs))
  end

  -- ALGORITHMS

  local arithmetics = {}

  -- Only what a batch asks for is set up: a batch is often one request.
  local function arithmeticOf(limit)
    local algorithm = limit[1]
    local arithmetic = arithmetics[algorithm]
    if not arithmetic then
      arithmetic = ALGORITHMS[algorithm]()
      arithmetics[algorithm] = arithmetic
    end
    return arithmetic
  end

  local function describe(arithmetic, state, limit, cost)
    if not state then
      put(4)
      return
    end
    local fits = arithmetic.fits(state, limit, cost)
    local status = fits and 1 or 0
    if state.blockedUs > now then
      put(status + 2)
      put(state.blockedUs)
    else
      put(status)
    end
    arithmetic.report(state, limit, cost, fits)
  end

  local function allows(arithmetic, state, limit, cost)
    return state and state.blockedUs <= now and arithmetic.fits(state, limit, cost)
  end

  -- The status of what was taken says whether it had fitted; after it was taken that cannot be asked any more.
  local function describeTaken(arithmetic, state, limit, cost)
    put(1)
    arithmetic.report(state, limit, cost, true)
  end

  local function decide(key, limit, cost)
    local arithmetic = arithmeticOf(limit)
    local state = arithmetic.open(key, limit)
    if not allows(arithmetic, state, limit, cost) then return describe(arithmetic, state, limit, cost) end
    if cost > 0 then
      arithmetic.take(state, limit, cost)
      arithmetic.save(key, state, limit)
    end
    describeTaken(arithmetic, state, limit, cost)
  end

  local function decideGroup(keyAt, at, count)
    local states, allowed = {}, true
    for i = 1, count do
      local limit, cost = limits[steps[at + 3 * i - 3]], steps[at + 3 * i - 2]
      local arithmetic = arithmeticOf(limit)
      states[i] = arithmetic.open(KEYS[keyAt + i], limit) or false
      if not allows(arithmetic, states[i], limit, cost) then allowed = false end
    end
    if allowed then
      for i = 1, count do
        local limit, cost, takes = limits[steps[at + 3 * i - 3]], steps[at + 3 * i - 2], steps[at + 3 * i - 1]
        if takes == 1 and cost > 0 then
          local arithmetic = arithmeticOf(limit)
          arithmetic.take(states[i], limit, cost)
          arithmetic.save(KEYS[keyAt + i], states[i], limit)
        end
      end
    end
    for i = 1, count do
      local limit, cost, takes = limits[steps[at + 3 * i - 3]], steps[at + 3 * i - 2], steps[at + 3 * i - 1]
      local arithmetic = arithmeticOf(limit)
      if allowed then
        if takes == 0 then states[i] = arithmetic.open(KEYS[keyAt + i], limit) end
        describeTaken(arithmetic, states[i], limit, cost)
      else
        describe(arithmetic, states[i], limit, cost)
      end
    end
  end

  local function charge(key, limit, cost)
    local arithmetic = arithmeticOf(limit)
    local state = arithmetic.open(key, limit)
    if state and cost > 0 then
      arithmetic.take(state, limit, cost)
      arithmetic.save(key, state, limit)
    end
    describe(arithmetic, state, limit, 0)
  end

  local function giveBack(key, limit, units, atUs, cost, delayMs)
    local arithmetic = arithmeticOf(limit)
    local state = arithmetic.open(key, limit)
    if state and state.stored and arithmetic.giveBack(state, limit, units, atUs, cost, delayMs) then
      arithmetic.save(key, state, limit)
    end
    describe(arithmetic, state, limit, 0)
  end

  local function reset(keyAt)
    for algorithm = 1, #ALGORITHMS do call('DEL', KEYS[keyAt + algorithm]) end
    put(1)
  end

  -- A block is for a name and a key, whatever the algorithm: it goes with the state of each.
  local function block(keyAt, durationUs)
    for algorithm = 1, #ALGORITHMS do
      arithmeticOf({ algorithm }).block(KEYS[keyAt + algorithm], now + durationUs)
    end
    put(1)
  end

  return { decide = decide, decideGroup = decideGroup, charge = charge, giveBack = giveBack, reset = reset, block = block }
end

local general

local function rest()
  general = general or setUp()
  return general
end

-- Requests of one token each or so, written out: token-bucket.lua says the same, and a test that they agree.
local function decideTokens(first, last, limit, cost)
  local partsPerUnit, partsPerUs = limit[2], limit[3]
  local full, parts = limit[4] * partsPerUnit, cost * partsPerUnit
  for i = first, last do
    local key = KEYS[i]
    local raw = pcall('GET', key)
    local level
    if not raw then
      level = full
    elseif #raw == 16 then
      local tokens, sinceUs = unpackWords('<dd', raw)
      local gained = (now - sinceUs) * partsPerUs
      local stored = floor(tokens * partsPerUnit + 0.5)
      if gained >= 0 and stored < full then
        level = gained >= full - stored and full or stored + gained
      end
    end
    if not level then
      rest().decide(key, limit, cost)
    else
      local status = 0
      if level >= parts then
        status, level = 1, level - parts
        call('SET', key, pack('<dd', level / partsPerUnit, now), 'PX', ttlMs(now + ceil((full - level) / partsPerUs)))
      end
      reply[size + 1], reply[size + 2], reply[size + 3] = status, level, 0
      size = size + 3
    end
  end
end

local keyAt, at = 0, 1
while steps[at] do
  local step = steps[at]
  if step == 1 then
    local limit, cost, count = limits[steps[at + 1]], steps[at + 2], steps[at + 3]
    if limit[1] == 1 and cost > 0 and cost <= limit[4] then
      decideTokens(keyAt + 1, keyAt + count, limit, cost)
    else
      for i = 1, count do rest().decide(KEYS[keyAt + i], limit, cost) end
    end
    keyAt, at = keyAt + count, at + 4
  elseif step == 2 then
    local count = steps[at + 1]
    rest().decideGroup(keyAt, at + 2, count)
    keyAt, at = keyAt + count, at + 2 + 3 * count
  elseif step == 3 then
    rest().charge(KEYS[keyAt + 1], limits[steps[at + 1]], steps[at + 2])
    keyAt, at = keyAt + 1, at + 3
  elseif step == 4 then
    local limit, units, known = limits[steps[at + 1]], steps[at + 2], steps[at + 3]
    if known == 1 then
      rest().giveBack(KEYS[keyAt + 1], limit, units, steps[at + 4], steps[at + 5], steps[at + 6])
      at = at + 7
    else
      rest().giveBack(KEYS[keyAt + 1], limit, units)
      at = at + 4
    end
    keyAt = keyAt + 1
  elseif step == 5 then
    rest().reset(keyAt)
    keyAt, at = keyAt + 5, at + 1
  else
    rest().block(keyAt, steps[at + 1])
    keyAt, at = keyAt + 5, at + 2
  end
end

return reply
