-- Twin of leaky-bucket.ts. Words: units in the queue, since, cost of the last slot, capacity then, users.

local arithmetic = bucket({
  length = 40,
  wordsOf = function(words)
    local queue, sinceUs, lastCost, room, users = unpackWords('<ddddd', words)
    return queue, sinceUs, lastCost, room, users
  end,
  stored = function(limit, full, queue) return full - floor(queue * limit[2] + 0.5) end,
  kept = function(state, limit, full) return (full - state.level) / limit[2] + state.excess end,
  packed = function(state, limit, queue)
    return pack('<ddddd', queue, state.sinceUs, state.lastCost, limit[4] + state.excess, state.users)
  end,
  toGoUs = function(queue, _, unitUs) return queue * unitUs end,
})
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
  if state.excess > 0 then
    -- While those of a larger capacity wait, what is given back brings them forward, before there is room for more.
    local full, before = limit[4] * limit[2], state.excess
    local all = (full - state.level) / limit[2] + before
    state.excess = max(0, min(before, all - limit[4]))
    state.level = full - floor((all - state.excess) * limit[2] + 0.5)
  end
  return true
end

return arithmetic
