-- One exchange of a node with a state: what is left of earlier leases comes back, and units go out. It needs the general form
-- for windows and for keys with a block only.
--
-- KEYS     state
--          guard       a string: the number of the last request of this node for this state
-- A request whose number is not above the last one arrives twice, or late: it changes nothing. A guard lives for longer than
-- any lease that a request with this number or a lower one can name. After that, such a request returns nothing either.

local function isStale(guard, sequence)
  local last = pcall('GET', guard)
  return type(last) == 'string' and sequence <= (tonumber(last) or 0)
end

local function remember(guard, sequence, leaseUs, at, count)
  local roundUs = LEASES_A_ROUND * leaseUs
  local latestUs = now + 2 * roundUs
  for i = at, at + 3 * count - 1, 3 do latestUs = max(latestUs, steps[i]) end
  call('SET', guard, format('%d', sequence), 'PX', ttlMs(latestUs + roundUs))
end

-- The returns are `count` times round, spent, unspent in the steps from `at` on.
-- Reply: the report of the state afterwards, for a cost of 0; then how many units were granted, and when their lease ends.
-- A key that is blocked takes back, and grants nothing.
return function(key, guard, limit, want, leaseUs, sequence, at, count)
  local arithmetic = limit[1] == 1 and leasedBucket() or general().arithmeticOf(limit)
  local state = arithmetic.open(key, limit)
  if not state then return put(6) end
  local granted, untilUs = 0, now
  if not isStale(guard, sequence) then
    local isChanged
    if state.block.untilUs > now then want = 0 end
    granted, untilUs, isChanged = arithmetic.lease(state, limit, want, leaseUs, at, count)
    if isChanged then arithmetic.save(key, state, limit) end
    remember(guard, sequence, leaseUs, at, count)
  end
  describe(arithmetic, state, limit, 0)
  put(granted)
  put(untilUs)
end
