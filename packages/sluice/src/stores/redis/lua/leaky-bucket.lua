-- Twin of leaky-bucket.ts. Words: units in the queue, since, cost of the last slot, capacity then, excess, users.

local arithmetic = bucket({
  length = 48,
  wordsOf = function(words)
    local queue, sinceUs, lastCost, room, excess, users = unpackWords('<dddddd', words)
    return queue, sinceUs, lastCost, room, excess, users
  end,
  packed = function(state)
    return pack('<dddddd', state.kept, state.sinceUs, state.lastCost, state.room, state.excess, state.users)
  end,
  own = function(queue, room, excess, capacity)
    if capacity == room then return queue end
    if capacity > room then return queue + min(excess, max(0, capacity - queue)) end
    local debt = max(0, queue - room)
    return min(queue - debt, capacity) + debt
  end,
  stored = function(limit, full, queue) return full - floor(queue * limit[2] + 0.5) end,
  kept = function(level, limit, full) return (full - level) / limit[2] end,
  debt = function(queue, units) return min(queue + units, 1e15) end,
  toGoUs = function(queue, _, unitUs, rounding) return ceil(queue * unitUs * (1 + rounding)) end,
})
local refundUnits = arithmetic.refund

-- Is the end of the queue the end of the slot that was taken, to within half a unit?
local function endsAt(state, limit, queue, slot, atUs, delayMs)
  local baseUs = max(now, state.sinceUs)
  local slotEnd = (atUs - baseUs + delayMs * 1000) * limit[3] + slot
  return math.abs(slotEnd - queue) * 2 < limit[2]
end

-- Whoever was denied elsewhere never went, though their slot may have departed: that is undone.
function arithmetic.refund(state, limit, units, atUs, cost, delayMs, isUndo)
  local queue = limit[4] * limit[2] - state.level
  local lastCost = atUs and cost or state.lastCost
  local slot = lastCost * limit[2]
  if (queue <= slot and not isUndo) or (atUs and not endsAt(state, limit, queue, slot, atUs, delayMs)) then return false end
  local given = min(units, lastCost)
  refundUnits(state, limit, given)
  state.lastCost = lastCost - given
  return true
end

return arithmetic
