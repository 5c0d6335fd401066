-- Twin of unlimited.ts.
--
-- Words    none: a key has a value only while it is blocked, or its last block is remembered
-- Limit    [algorithm]
-- Report   nothing

local function open(key)
  local words, block = read(key)
  if words ~= false then return nil end
  return { block = block }
end

local function fits()
  return true
end

local function refund()
  return false
end

-- Nothing is taken, written or reported.
local function nothing() end

return { open = open, fits = fits, take = nothing, refund = refund, save = nothing, report = nothing }
