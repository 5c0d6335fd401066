-- The general form of every limit, and the steps that have no fast path. Gives the functions that main.lua calls.
--
-- An algorithm's file gives a table of functions:
--   open(key, limit)                     the state, brought up to now; nil if the key holds no state of the algorithm
--   fits(state, limit, cost)             as in the arithmetic of the same name
--   take(state, limit, cost)
--   refund(state, limit, units, atUs, cost, delayMs, isUndo)   returns whether any unit was refunded
--   save(key, state, limit)              writes a state that was changed, or deletes it if it is whole
--   report(state, limit, cost, fits)     appends the numbers that describe the state
--   aheadUs(state, limit)                only buckets: how far the state's time lies ahead
-- A state has `stored` if the key held one, `blockedUs`, the end of its block or 0, and, of a bucket, `tokens`.

local max, min = math.max, math.min

local function put(number)
  size = size + 1
  reply[size] = number
end

-- Times are whole microseconds, and counts are whole units. No limit writes any other number.
local function isWhole(number)
  return number >= 0 and number < 2 ^ 53 and number % 1 == 0
end

-- A blocked key has so many bytes behind its state: the end of the block, the time when the state is whole, and a letter.
-- So the length of its value is no multiple of 8.
local BLOCK = 17

-- The words of a key, or false if it has no state; the end of its block, or 0; and, if it is blocked, when the words are
-- whole. Nothing if no limit wrote the value.
local function read(key)
  local raw = pcall('GET', key)
  if not raw then return false, 0 end
  if type(raw) ~= 'string' then return nil end
  if #raw % 8 == 0 then return raw, 0 end
  if #raw % 8 ~= 1 or #raw < BLOCK then return nil end
  local blockedUs, wholeUs = unpackWords('<dd', raw, #raw - BLOCK + 1)
  return #raw > BLOCK and string.sub(raw, 1, #raw - BLOCK), blockedUs, wholeUs
end

-- Writes words that are whole at `wholeUs`, and a block, for as long as either matters.
local function write(key, words, wholeUs, blockedUs)
  if wholeUs <= now then words = '' end
  if blockedUs > now then
    call('SET', key, words .. pack('<dd', blockedUs, wholeUs) .. 'b', 'PX', ttlMs(max(wholeUs, blockedUs)))
  elseif words ~= '' then
    call('SET', key, words, 'PX', ttlMs(wholeUs))
  else
    call('DEL', key)
  end
end

-- ALGORITHMS

local arithmetics = {}

-- Sets up only the algorithms that the batch asks for.
local function arithmeticOf(limit)
  local algorithm = limit[1]
  local arithmetic = arithmetics[algorithm]
  if not arithmetic then
    arithmetic = ALGORITHMS[algorithm]()
    arithmetics[algorithm] = arithmetic
  end
  return arithmetic
end

-- Appends the head and the report of a state. `fits` is looked up unless it is given.
local function describe(arithmetic, state, limit, cost, fits)
  if not state then return put(6) end
  if fits == nil then fits = arithmetic.fits(state, limit, cost) end
  local tokens = state.tokens or 0
  local aheadUs = arithmetic.aheadUs and arithmetic.aheadUs(state, limit) or 0
  local isBlocked = state.blockedUs > now
  if isBlocked or aheadUs > 0 or tokens >= LARGE or tokens <= -LARGE then
    put((fits and 1 or 0) + (isBlocked and 2 or 4))
    if isBlocked then put(state.blockedUs) end
    put(aheadUs)
    put(tokens)
  else
    put((fits and 1 or 0) + 8 * tokens)
  end
  arithmetic.report(state, limit, cost, fits)
end

local function allows(arithmetic, state, limit, cost)
  return state and state.blockedUs <= now and arithmetic.fits(state, limit, cost)
end

local function decide(key, limit, cost)
  local arithmetic = arithmeticOf(limit)
  local state = arithmetic.open(key, limit)
  if not allows(arithmetic, state, limit, cost) then return describe(arithmetic, state, limit, cost) end
  if cost > 0 then
    arithmetic.take(state, limit, cost)
    arithmetic.save(key, state, limit)
  end
  describe(arithmetic, state, limit, cost, true)
end

-- Returns whether the request is allowed.
local function decideGroup(keyAt, at, count)
  local states, met, allowed, isShared = {}, {}, true, false
  for i = 1, count do
    local limit, cost, role = limits[steps[at + 3 * i - 3]], steps[at + 3 * i - 2], steps[at + 3 * i - 1]
    local arithmetic = arithmeticOf(limit)
    local state = arithmetic.open(KEYS[keyAt + i], limit)
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
        arithmetic.take(states[i], limit, cost)
        arithmetic.save(KEYS[keyAt + i], states[i], limit)
      end
    end
  end
  for i = 1, count do
    local limit, cost = limits[steps[at + 3 * i - 3]], steps[at + 3 * i - 2]
    local arithmetic = arithmeticOf(limit)
    -- A demand that shares its state reads it again, because the first demand for it took.
    if allowed and isShared then states[i] = arithmetic.open(KEYS[keyAt + i], limit) end
    describe(arithmetic, states[i], limit, cost, (allowed and met[i]) or nil)
  end
  return allowed
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

local function refund(key, limit, units, atUs, cost, delayMs, isUndo)
  local arithmetic = arithmeticOf(limit)
  local state = arithmetic.open(key, limit)
  local isPossible = state and state.stored and units > 0
  if isPossible and arithmetic.refund(state, limit, units, atUs, cost, delayMs, isUndo) then
    arithmetic.save(key, state, limit)
  end
  describe(arithmetic, state, limit, 0)
end

local function reset(keyAt, count)
  for i = 1, count do call('DEL', KEYS[keyAt + i]) end
  put(1)
end

-- These steps get no limit. So the time when a state is whole is read from its expiry, or from an earlier block.
local function block(keyAt, count, durationUs)
  local head = 1
  for i = 1, count do
    local key = KEYS[keyAt + i]
    local words, _, wholeUs = read(key)
    if words == nil then
      head = 6
    else
      if words and not wholeUs then wholeUs = now + (call('PTTL', key) - 1) * 1000 end
      write(key, words or '', wholeUs or now, now + durationUs)
    end
  end
  put(head)
end

local overrides = function()
  -- OVERRIDES
end

local reservations = function()
  -- RESERVATIONS
end

return { overrides = overrides, reservations = reservations, decide = decide, decideGroup = decideGroup, charge = charge, refund = refund, reset = reset, block = block }
