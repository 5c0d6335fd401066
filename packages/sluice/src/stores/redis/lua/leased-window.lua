-- Twin of leased-window.ts: the leases of fixed-window.lua and sliding-window.lua. Units on lease are taken in advance.
--
-- Gets the functions of the algorithm's file
--   refund, take             as general.lua says
--   left(state, limit)       how many units are left
--   takenUs(state)           when the last units count as taken
--   sliceEndUs(state, limit) when the slice of those units ends, or their window
-- and gives `lease`, as general.lua says.

local refund, take, left, takenUs, sliceEndUs = ...

return function(state, limit, want, leaseUs, at, count)
  local isChanged = false
  for i = at, at + 3 * count - 1, 3 do
    local roundUs, unspent = steps[i], steps[i + 2]
    if unspent > 0 and now < roundUs + LEASES_A_ROUND * leaseUs then
      isChanged = refund(state, limit, unspent, roundUs - 1) or isChanged
    end
  end
  local granted = min(want, left(state, limit))
  if granted == 0 then return 0, now, isChanged end
  take(state, limit, granted)
  return granted, min(sliceEndUs(state, limit), nextRoundEndsUs(takenUs(state), leaseUs)), true
end
