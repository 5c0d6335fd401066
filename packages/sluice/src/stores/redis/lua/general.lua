-- What a batch may need besides plain token buckets. Gives the functions that main.lua calls, each for one step.
--
-- An algorithm's file gives a table of functions:
--   open(key, limit, isLook)             the state, brought up to now; nil if what is there is not ours. It may write that the
--                                        limit uses the state, but not for a look
--   fits(state, limit, cost)             as in the arithmetic of the same name
--   take(state, limit, cost)
--   refund(state, limit, units, atUs, cost, delayMs, isUndo)   says whether anything was given
--   save(key, state, limit)              writes a state that was changed, or deletes it if it is whole
--   report(state, limit, cost, fits)     appends the numbers that the caller describes the state by
--   block(key, untilUs)                  adds the end of a block to what the key holds; says whether that is ours
-- A state has `stored`, unless the key held none, and `blockedUs`, the end of its block, or 0.

local max, min = math.max, math.min

-- The PX of a key that has to last until a time. It counts from the whole millisecond that has begun, hence one more;
-- and Redis itself is slower to format a number.
local function ttlMs(untilUs)
  return format('%d', ceil((untilUs - now) / 1000) + 1 + lingerMs)
end

local function put(number)
  size = size + 1
  reply[size] = number
end

-- What a key holds: its `length` bytes of words, or false if there are none; the end of its block, or 0; and when the
-- words would be whole, if there is a block to know that for. Nothing for what no limit wrote. `length` may be a function
-- of what is there.
local function read(key, length)
  local raw = pcall('GET', key)
  if not raw then return false, 0 end
  if type(raw) ~= 'string' then return nil end
  if #raw == 8 then return false, (unpackWords('<d', raw)) end
  if type(length) == 'function' then length = length(raw) end
  if #raw == length then return raw, 0 end
  if #raw ~= length + 16 then return nil end
  local blockedUs, wholeUs = unpackWords('<dd', raw, length + 1)
  return string.sub(raw, 1, length), blockedUs, wholeUs
end

-- Writes words that are whole from `wholeUs` on, and a block, for as long as any of them matters.
local function write(key, words, wholeUs, blockedUs)
  if blockedUs > now then
    local isWhole = wholeUs <= now
    local both = isWhole and pack('<d', blockedUs) or words .. pack('<dd', blockedUs, wholeUs)
    call('SET', key, both, 'PX', ttlMs(max(wholeUs, blockedUs)))
  elseif wholeUs > now then
    call('SET', key, words, 'PX', ttlMs(wholeUs))
  else
    call('DEL', key)
  end
end

-- Adds a block to words of a limit that nobody named: how long those matter, only their expiry says, or an earlier block.
local function writeBlock(key, untilUs, length)
  local words, _, wholeUs = read(key, length)
  if words == nil then return false end
  if words and not wholeUs then wholeUs = now + (call('PTTL', key) - 1) * 1000 end
  write(key, words, wholeUs or now, untilUs)
  return true
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

-- Puts the head and what follows it. Only buckets have a level, and a time that may lie ahead.
local function describeAs(arithmetic, state, limit, cost, fits)
  local level = state.level or 0
  local aheadUs = arithmetic.aheadUs and arithmetic.aheadUs(state, limit) or 0
  local head = fits and 1 or 0
  if state.blockedUs > now then
    put(head + 2)
    put(state.blockedUs)
    put(aheadUs)
    put(level)
  elseif aheadUs > 0 or level >= LARGE or level <= -LARGE then
    put(head + 4)
    put(aheadUs)
    put(level)
  else
    put(head + 8 * level)
  end
  arithmetic.report(state, limit, cost, fits)
end

local function describe(arithmetic, state, limit, cost)
  if state then
    describeAs(arithmetic, state, limit, cost, arithmetic.fits(state, limit, cost))
  else
    put(6)
  end
end

local function allows(arithmetic, state, limit, cost)
  return state and state.blockedUs <= now and arithmetic.fits(state, limit, cost)
end

local function decide(key, limit, cost)
  local arithmetic = arithmeticOf(limit)
  local state = arithmetic.open(key, limit, cost == 0)
  if not allows(arithmetic, state, limit, cost) then return describe(arithmetic, state, limit, cost) end
  if cost > 0 then
    arithmetic.take(state, limit, cost)
    arithmetic.save(key, state, limit)
  end
  describeAs(arithmetic, state, limit, cost, true)
end

local function decideGroup(keyAt, at, count)
  local states, met, allowed, isShared = {}, {}, true, false
  for i = 1, count do
    local limit, cost, role = limits[steps[at + 3 * i - 3]], steps[at + 3 * i - 2], steps[at + 3 * i - 1]
    local arithmetic = arithmeticOf(limit)
    local state = arithmetic.open(KEYS[keyAt + i], limit, cost == 0)
    states[i] = state or false
    met[i] = allows(arithmetic, state, limit, cost)
    if not met[i] and (role < 2 or not state) then allowed = false end
    if role % 2 == 0 then isShared = true end
  end
  if allowed then
    for i = 1, count do
      local limit, cost, role = limits[steps[at + 3 * i - 3]], steps[at + 3 * i - 2], steps[at + 3 * i - 1]
      if met[i] and role % 2 == 1 and cost > 0 then
        local arithmetic = arithmeticOf(limit)
        -- Another demand for the same state may have left its mark on it.
        if isShared then states[i] = arithmetic.open(KEYS[keyAt + i], limit) end
        arithmetic.take(states[i], limit, cost)
        arithmetic.save(KEYS[keyAt + i], states[i], limit)
      end
    end
  end
  for i = 1, count do
    local limit, cost = limits[steps[at + 3 * i - 3]], steps[at + 3 * i - 2]
    local arithmetic = arithmeticOf(limit)
    if allowed and isShared then states[i] = arithmetic.open(KEYS[keyAt + i], limit, cost == 0) end
    if allowed and met[i] then
      describeAs(arithmetic, states[i], limit, cost, true)
    else
      describe(arithmetic, states[i], limit, cost)
    end
  end
end

local function charge(key, limit, cost)
  local arithmetic = arithmeticOf(limit)
  local state = arithmetic.open(key, limit, cost == 0)
  if state and cost > 0 then
    arithmetic.take(state, limit, cost)
    arithmetic.save(key, state, limit)
  end
  describe(arithmetic, state, limit, 0)
end

local function refund(key, limit, units, atUs, cost, delayMs, isUndo)
  local arithmetic = arithmeticOf(limit)
  local state = arithmetic.open(key, limit, units == 0)
  local isGiven = state and state.stored and units > 0
  if isGiven and arithmetic.refund(state, limit, units, atUs, cost, delayMs, isUndo) then
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
  local head = 1
  for algorithm = 1, #ALGORITHMS do
    if not arithmeticOf({ algorithm }).block(KEYS[keyAt + algorithm], now + durationUs) then head = 6 end
  end
  put(head)
end

local overrides = function()
  -- OVERRIDES
end

return { overrides = overrides, decide = decide, decideGroup = decideGroup, charge = charge, refund = refund, reset = reset, block = block }
