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
--   lease(state, limit, want, leaseUs, at, count)   only windows: takes back the `count` returns in the steps from `at` on, and
--                                        gives units granted, the end of their lease, and whether the state changed
-- A state has `stored` if the key held one, `block`, and, of a bucket, `tokens`. If units of it are on lease, `newerHeld`,
-- `newerUs`, `olderHeld` and `olderUs` say how many, and until when.

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

local function allows(arithmetic, state, limit, cost)
  return state and state.block.untilUs <= now and arithmetic.fits(state, limit, cost)
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

-- When the words of a key are whole, for a step that gets no limit: from an earlier block, or from the expiry.
local function expiryUs(key, earlier)
  return earlier.wholeUs or now + (call('PTTL', key) - 1) * 1000
end

-- Blocks a key until a time. Gives false if the key holds no state.
local function setBlock(key, untilUs, lastUs, rememberedUs)
  local words, earlier = read(key)
  if words == nil then return false end
  local wholeUs = words and expiryUs(key, earlier) or earlier.wholeUs
  local block = { untilUs = untilUs, lastUs = lastUs or earlier.lastUs, rememberedUs = rememberedUs or earlier.rememberedUs }
  write(key, words or '', wholeUs or now, block)
  return true
end

-- Blocks a key that exceeds. Twin of `nextBlock` in block-rule.ts. The rule is [first, factor, most, forget].
local function blockOffender(key, earlier, rule)
  local lastUs = rule[1]
  if earlier.rememberedUs > now then lastUs = min(rule[3], max(rule[1], floor(earlier.lastUs * rule[2]))) end
  local untilUs = now + lastUs
  setBlock(key, untilUs, lastUs, rule[4] > 0 and untilUs + rule[4] or 0)
end

-- Returns whether the request is allowed. Keys that exceed are blocked first, and then the request is decided anew: `isDone`.
-- A peek takes nothing, and has no rules that block.
local function decideGroup(keyAt, at, count, isPeek, isDone)
  local states, met, allowed, isShared, offenders = {}, {}, true, false, nil
  for i = 1, count do
    local limit, cost, role = limits[steps[at + 3 * i - 3]], steps[at + 3 * i - 2], steps[at + 3 * i - 1]
    local arithmetic = arithmeticOf(limit)
    local state = arithmetic.open(KEYS[keyAt + i], limit)
    states[i] = state or false
    met[i] = allows(arithmetic, state, limit, cost)
    if not met[i] and (role % 4 < 2 or not state) then allowed = false end
    if role % 2 == 0 then isShared = true end
    local isOffence = role >= 4 and not isDone and state and not met[i] and cost > 0 and state.block.untilUs <= now
    if isOffence then
      offenders = offenders or {}
      offenders[KEYS[keyAt + i]] = offenders[KEYS[keyAt + i]] or { state.block, rules[floor(role / 4)] }
    end
  end
  if offenders then
    for key, offender in pairs(offenders) do blockOffender(key, offender[1], offender[2]) end
    return decideGroup(keyAt, at, count, isPeek, true)
  end
  if allowed and not isPeek then
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
  describe(arithmetic, state, limit, 1)
end

-- Forgets what was taken from a token bucket, but not what is on lease: nodes may still spend it. The tokens become as many
-- as there can be, and the limit that reads them cuts them.
local function forgetBucket(key, block)
  local words, earlier = read(key)
  if not words or #words ~= LEASED_BYTES then return write(key, '', now, block) end
  local newerHeld, newerUs, olderHeld, olderUs = unpackWords('<dddd', words, 17)
  -- A fresh bucket beside a lease that is over would lack its units.
  if newerUs <= now then newerHeld, newerUs = 0, 0 end
  if olderUs <= now then olderHeld, olderUs = 0, 0 end
  if newerHeld + olderHeld == 0 then return write(key, '', now, block) end
  local wholeUs = max(expiryUs(key, earlier), newerUs, olderUs)
  write(key, pack('<dddddd', 2 ^ 52, now, newerHeld, newerUs, olderHeld, olderUs), wholeUs, block)
end

-- Replaces the state by a fresh one and takes units from it. Writing the block alone forgets the state. A token bucket has what
-- is then left and what is on lease together.
local function set(key, limit, units)
  local arithmetic = arithmeticOf(limit)
  local state = arithmetic.open(key, limit)
  if state then
    if limit[1] == 1 then forgetBucket(key, state.block) else write(key, '', now, state.block) end
    state = arithmetic.open(key, limit)
    if units > 0 then
      arithmetic.take(state, limit, units)
      arithmetic.save(key, state, limit)
    end
  end
  describe(arithmetic, state, limit, 1)
end

-- The answer is for a cost of 1 or, if the request never went, of 0.
local function refund(key, limit, units, atUs, cost, delayMs, isUndo)
  local arithmetic = arithmeticOf(limit)
  local state = arithmetic.open(key, limit)
  local isPossible = state and state.stored and units > 0
  if isPossible and arithmetic.refund(state, limit, units, atUs, cost, delayMs, isUndo) then
    arithmetic.save(key, state, limit)
  end
  describe(arithmetic, state, limit, isUndo and 0 or 1)
end

local function reset(keyAt, count)
  forgetBucket(KEYS[keyAt + 1], NO_BLOCK)
  for i = 2, count do call('DEL', KEYS[keyAt + i]) end
  put(1)
end

local function block(keyAt, count, durationUs)
  local head = 1
  for i = 1, count do
    if not setBlock(KEYS[keyAt + i], now + durationUs) then head = 6 end
  end
  put(head)
end

local overrides = function()
  -- OVERRIDES
end

local reservations = function()
  -- RESERVATIONS
end

return { overrides = overrides, reservations = reservations, arithmeticOf = arithmeticOf, decide = decide, decideGroup = decideGroup, charge = charge, set = set, refund = refund, reset = reset, block = block }
