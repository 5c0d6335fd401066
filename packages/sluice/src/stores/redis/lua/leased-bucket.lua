-- Twin of leased-bucket.ts: a token bucket of which nodes hold units on lease. Other requests for such a state come here from
-- bucket.lua. Every exchange comes from leases.lua, whether units are on lease or not.
--
-- Words    tokens in units, since when in epoch µs, then for the newer leases and the older ones: units held, and until
--          when in epoch µs. Without held units a state has the first two words only, as bucket.lua says
-- Report   behind the tokens: the same four numbers
--
-- Functions take and give a state as six numbers, in the order of the words, but the tokens in parts. There may be thousands of
-- exchanges a second, and a table for each costs more than its arithmetic. So does a call of math.min or math.max.

local MOST_PARTS = 2 ^ 50

-- The most tokens beside so many held units. After a limit was lowered, more may be held than its capacity.
local function mostBeside(limit, held)
  local most = limit[4] * limit[2] - held * limit[2]
  return most > 0 and most or 0
end

-- The tokens at `us` beside so many held units, and since when there are so many.
local function refilled(limit, tokens, sinceUs, us, held)
  local most = mostBeside(limit, held)
  if us > sinceUs then tokens, sinceUs = tokens + (us - sinceUs) * limit[3], us end
  return tokens < most and tokens or most, sinceUs
end

-- Ends rounds that are over, each at its time, and refills in between.
local function advanced(limit, tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs)
  if olderHeld > 0 and olderUs <= now then
    tokens, sinceUs = refilled(limit, tokens, sinceUs, olderUs, newerHeld + olderHeld)
    olderHeld, olderUs = 0, 0
  end
  if newerHeld > 0 and newerUs <= now then
    tokens, sinceUs = refilled(limit, tokens, sinceUs, newerUs, newerHeld + olderHeld)
    newerHeld, newerUs = 0, 0
  end
  tokens, sinceUs = refilled(limit, tokens, sinceUs, now, newerHeld + olderHeld)
  return tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs
end

-- The state of a key's words, up to now; of a key without words if they are false. Nothing if no limit wrote them.
local function open(words, limit)
  if not words then return limit[4] * limit[2], now, 0, 0, 0, 0 end
  local units, sinceUs, newerHeld, newerUs, olderHeld, olderUs = nil, nil, 0, 0, 0, 0
  if #words == LEASED_BYTES then
    units, sinceUs, newerHeld, newerUs, olderHeld, olderUs = unpackWords('<dddddd', words)
    if not (isWhole(newerHeld) and isWhole(newerUs) and isWhole(olderHeld) and isWhole(olderUs)) then return nil end
  elseif #words == 16 then
    units, sinceUs = unpackWords('<dd', words)
  else
    return nil
  end
  if not (isWhole(sinceUs) and units > -2 ^ 53 and units < 2 ^ 53) then return nil end
  local tokens = max(floor(units * limit[2] + 0.5), -MOST_PARTS)
  return advanced(limit, tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs)
end

-- When the bucket is full, if nothing more happens.
local function wholeUs(limit, tokens, us, newerHeld, newerUs, olderHeld, olderUs)
  local full = limit[4] * limit[2]
  if tokens >= full then return now end
  if olderHeld > 0 then tokens, us = refilled(limit, tokens, us, olderUs, newerHeld + olderHeld) end
  if newerHeld > 0 then tokens, us = refilled(limit, tokens, us, newerUs, newerHeld) end
  return us + ceil((full - tokens) / limit[3])
end

local function save(key, limit, block, tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs)
  local words
  if newerHeld + olderHeld > 0 then
    words = pack('<dddddd', tokens / limit[2], sinceUs, newerHeld, newerUs, olderHeld, olderUs)
  else
    words = pack('<dd', tokens / limit[2], sinceUs)
  end
  write(key, words, wholeUs(limit, tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs), block)
end

-- Takes back what is returned: `count` times round, spent, unspent in the steps from `at` on. A return for a round that is
-- over, or that was joined with another, changes nothing: the units count until that ends. Gives first whether any did.
local function takeBack(limit, at, count, tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs)
  local isChanged = false
  for i = at, at + 3 * count - 1, 3 do
    local roundUs, spent, unspent = steps[i], steps[i + 1], steps[i + 2]
    local isNewer = newerHeld > 0 and newerUs == roundUs
    if isNewer or (olderHeld > 0 and olderUs == roundUs) then
      local left = (isNewer and newerHeld or olderHeld) - spent
      if left < 0 then left = 0 end
      if unspent > left then unspent = left end
      local held, untilUs = left - unspent, left > unspent and roundUs or 0
      if isNewer then newerHeld, newerUs = held, untilUs else olderHeld, olderUs = held, untilUs end
      local most = mostBeside(limit, newerHeld + olderHeld)
      tokens = tokens + unspent * limit[2]
      if tokens > most then tokens = most end
      isChanged = true
    end
  end
  return isChanged, tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs
end

-- Grants as many units as are wanted and there are. Gives first how many, and when they stop counting. A round of another
-- length may end later: then they count until its end.
local function grant(limit, want, leaseUs, tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs)
  local granted, untilUs = floor(tokens / limit[2]), now
  if granted > want then granted = want end
  if granted <= 0 then return 0, now, tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs end
  untilUs = nextRoundEndsUs(now, leaseUs)
  -- A full bucket equals no bucket, so it starts now, even if it has seen a later time.
  if tokens == limit[4] * limit[2] then sinceUs = now end
  tokens = tokens - granted * limit[2]
  if newerHeld == 0 then newerHeld, newerUs, olderHeld, olderUs = olderHeld, olderUs, 0, 0 end
  if newerHeld > 0 and newerUs >= untilUs then
    newerHeld, untilUs = newerHeld + granted, newerUs
  else
    if newerHeld > 0 then olderHeld, olderUs = olderHeld + newerHeld, newerUs end
    newerHeld, newerUs = granted, untilUs
  end
  return granted, untilUs, tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs
end

return { mostBeside = mostBeside, open = open, save = save, takeBack = takeBack, grant = grant }
