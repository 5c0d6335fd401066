-- States as their keys keep them, and as the script reports them: for every form of a limit but the written-out ones. Gives
--   general()   the functions of general.lua
--   leases()    the functions of leases.lua

local function put(number)
  size = size + 1
  reply[size] = number
end

-- Times are whole microseconds, and counts are whole units. No limit writes any other number.
local function isWhole(number)
  return number >= 0 and number < 2 ^ 53 and number % 1 == 0
end

-- Bytes behind the state of a key with a block: the end of the block and the time when the state is whole. If the block is
-- remembered after its end, also its length and until when. Then a letter, b or r. So the length of the value is no
-- multiple of 8.
local BLOCK, REMEMBERED = 17, 33

-- `untilUs` is the end of the block. `lastUs` is the length of the last block by a rule, known until `rememberedUs`.
local NO_BLOCK = { untilUs = 0, lastUs = 0, rememberedUs = 0 }

-- The bytes of a token bucket with units on lease.
local LEASED_BYTES = 48
-- A round of leases lasts so many lease times.
local LEASES_A_ROUND = 4

-- When a lease ends that is made at a time: with the round after this one.
local function nextRoundEndsUs(us, leaseUs)
  local roundUs = LEASES_A_ROUND * leaseUs
  return (floor(us / roundUs) + 2) * roundUs
end

-- The block at the end of a text, with `wholeUs`, and how many bytes it takes. Nothing if there is none.
local function readBlock(text)
  local bytes = string.sub(text, -1) == 'r' and REMEMBERED or BLOCK
  if #text < bytes then return nil end
  local block = { lastUs = 0, rememberedUs = 0 }
  local at = #text - bytes + 1
  block.untilUs, block.wholeUs = unpackWords('<dd', text, at)
  if bytes == REMEMBERED then block.lastUs, block.rememberedUs = unpackWords('<dd', text, at + 16) end
  return block, bytes
end

-- The words of a key, or false if it has no state; and its block. Nothing if no limit wrote the value.
local function read(key)
  local raw = pcall('GET', key)
  if not raw then return false, NO_BLOCK end
  if type(raw) ~= 'string' then return nil end
  if #raw % 8 == 0 then return raw, NO_BLOCK end
  if #raw % 8 ~= 1 then return nil end
  local block, bytes = readBlock(raw)
  if not block then return nil end
  return #raw > bytes and string.sub(raw, 1, #raw - bytes), block
end

-- Writes words that are whole at `wholeUs`, and a block, for as long as either matters.
local function write(key, words, wholeUs, block)
  if wholeUs <= now then words = '' end
  local untilUs, rememberedUs = block.untilUs, block.rememberedUs
  if rememberedUs > now then
    local behind = pack('<dddd', untilUs, wholeUs, block.lastUs, rememberedUs) .. 'r'
    call('SET', key, words .. behind, 'PX', ttlMs(max(wholeUs, untilUs, rememberedUs)))
  elseif untilUs > now then
    call('SET', key, words .. pack('<dd', untilUs, wholeUs) .. 'b', 'PX', ttlMs(max(wholeUs, untilUs)))
  elseif words ~= '' then
    call('SET', key, words, 'PX', ttlMs(wholeUs))
  else
    call('DEL', key)
  end
end

-- Appends the head of a state, up to the report. Without units on lease `newerHeld` is absent.
local function putHead(fits, block, aheadUs, tokens, newerHeld, newerUs, olderHeld, olderUs)
  local isBlocked = block.untilUs > now
  if not (isBlocked or aheadUs > 0 or newerHeld or tokens >= LARGE or tokens <= -LARGE) then
    return put((fits and 1 or 0) + 8 * tokens)
  end
  put((fits and 1 or 0) + (isBlocked and 2 or 4) + (newerHeld and 8 or 0))
  if isBlocked then put(block.untilUs) end
  reply[size + 1], reply[size + 2] = aheadUs, tokens
  size = size + 2
  if not newerHeld then return end
  reply[size + 1], reply[size + 2], reply[size + 3], reply[size + 4] = newerHeld, newerUs, olderHeld, olderUs
  size = size + 4
end

-- Appends the head and the report of a state. `fits` is looked up unless it is given.
local function describe(arithmetic, state, limit, cost, fits)
  if not state then return put(6) end
  if fits == nil then fits = arithmetic.fits(state, limit, cost) end
  local aheadUs = arithmetic.aheadUs and arithmetic.aheadUs(state, limit) or 0
  putHead(fits, state.block, aheadUs, state.tokens or 0, state.newerHeld, state.newerUs, state.olderHeld, state.olderUs)
  arithmetic.report(state, limit, cost, fits)
end

local leasedBucketMade
local function leasedBucket()
  leasedBucketMade = leasedBucketMade or (function()
    -- LEASED BUCKET
  end)()
  return leasedBucketMade
end

local generalMade
local function general()
  generalMade = generalMade or (function()
    -- GENERAL
  end)()
  return generalMade
end

local leasesMade
local function leases()
  leasesMade = leasesMade or (function()
    -- LEASES
  end)()
  return leasesMade
end

return { general = general, leases = leases }
