-- Twin of leaky-bucket.ts. Words: units in the queue, since, cost of the last slot, span.

local function stored(limit, full, queue)
  return full - floor(queue * limit[2] + 0.5)
end

local function wordsOf(words)
  local queue, sinceUs, lastCost, spanUs = unpackWords('<dddd', words)
  return queue, sinceUs, lastCost, spanUs
end

local arithmetic = bucket(stored, 32, wordsOf)
local giveBackUnits = arithmetic.giveBack

-- Is the end of the queue the end of the slot that was taken, to within half a unit?
local function endsAt(state, limit, queue, slot, atUs, delayMs)
  local baseUs = max(now, state.sinceUs)
  local slotEnd = (atUs - baseUs + delayMs * 1000) * limit[3] + slot
  return math.abs(slotEnd - queue) * 2 < limit[2]
end

-- Whoever was denied elsewhere never went, though their slot may have departed: that is undone.
function arithmetic.giveBack(state, limit, units, atUs, cost, delayMs, isUndo)
  local queue = limit[4] * limit[2] - state.level
  local lastCost = atUs and cost or state.lastCost
  local slot = lastCost * limit[2]
  if (queue <= slot and not isUndo) or (atUs and not endsAt(state, limit, queue, slot, atUs, delayMs)) then return false end
  local given = min(units, lastCost)
  giveBackUnits(state, limit, given)
  state.lastCost = lastCost - given
  return true
end

function arithmetic.save(key, state, limit)
  local queue = (limit[4] * limit[2] - state.level) / limit[2]
  local words = pack('<dddd', queue, state.sinceUs, state.lastCost, arithmetic.spanUs(state, limit))
  write(key, words, arithmetic.wholeUs(state, limit), state.blockedUs)
end

return arithmetic
