-- The fast path of the most frequent limits: the token bucket, no limit, and the fixed window and the sliding window of one
-- slice that are aligned to the epoch. Tests check that they decide as the general form does. They leave to it everything
-- unusual: a key that is blocked or holds no state, a state that has seen a later time, and numbers too large for one
-- exact step.
--
-- Gives three functions, or nothing if the limit has no fast path. x and y are the state as it stands now.
--   look(key, cost)          does the cost fit, x, y; nothing if the case is unusual
--   take(key, cost, x, y)    takes the cost and writes the state; returns x, y afterwards
--   report(fits, x, y)       appends the head and the report

local limit = ...
local algorithm = limit[1]

-- Token bucket. x: tokens, in parts.
if algorithm == 1 then
  local unit, perUs, full = limit[2], limit[3], limit[4] * limit[2]
  if full >= LARGE then return nil end
  return function(key, cost)
    local tokens = tokensOf(key, unit, perUs, full)
    if not tokens then return nil end
    return tokens >= cost * unit, tokens
  end, function(key, cost, tokens)
    tokens = tokens - cost * unit
    writeTokens(key, tokens, unit, perUs, full)
    return tokens
  end, function(fits, tokens)
    size = size + 1
    reply[size] = (fits and 1 or 0) + 8 * tokens
  end
end

-- Unlimited. A key without a value is not blocked.
if algorithm == 7 then
  return function(key)
    if pcall('GET', key) then return nil end
    return true
  end, function() end, function()
    size = size + 1
    reply[size] = 1
  end
end

if limit[3] ~= 0 then return nil end
local windowUs, quota = limit[2], limit[4]
local window = floor(now / windowUs)
local startUs = window * windowUs

-- Fixed window. x: the units taken in this window.
if algorithm == 3 then
  local ttl = ttlMs(startUs + windowUs)
  return function(key, cost)
    local raw = pcall('GET', key)
    if not raw then return cost <= quota, 0 end
    if #raw ~= 16 then return nil end
    local markUs, used = unpackWords('<dd', raw)
    if not (markUs <= now and markUs % 1 == 0 and used >= 0) then return nil end
    if markUs < startUs then used = 0 end
    return used + cost <= quota, used
  end, function(key, cost, used)
    call('SET', key, pack('<dd', now, used + cost), 'PX', ttl)
    return used + cost
  end, function(fits, used)
    reply[size + 1], reply[size + 2], reply[size + 3] = fits and 1 or 0, now, used
    size = size + 3
  end
end

-- Sliding window of one slice. x: the units taken in this slice; y: in the slice before. The third word counts slices of
-- even number, the fourth those of odd number.
if algorithm == 4 and limit[5] == 1 then
  local isOdd = window % 2 == 1
  local leftUs = startUs + windowUs - now
  local ttl = ttlMs(startUs + 2 * windowUs)
  return function(key, cost)
    local raw = pcall('GET', key)
    if not raw then return cost <= quota, 0, 0 end
    if #raw ~= 32 then return nil end
    local latestUs, _, current, previous = unpackWords('<dddd', raw)
    if not (latestUs <= now and latestUs % 1 == 0 and current >= 0 and previous >= 0) then return nil end
    if isOdd then current, previous = previous, current end
    if latestUs < startUs then
      -- The ring has not moved on yet: the slice before this one may have units, this one has none.
      current, previous = 0, latestUs >= startUs - windowUs and previous or 0
    end
    local share = previous * leftUs
    if share >= 2 ^ 53 then return nil end
    return ceil(share / windowUs) <= quota - cost - current, current, previous
  end, function(key, cost, current, previous)
    current = current + cost
    local even, odd = current, previous
    if isOdd then even, odd = previous, current end
    call('SET', key, pack('<dddd', now, 0, even, odd), 'PX', ttl)
    return current, previous
  end, function(fits, current, previous)
    local even, odd = current, previous
    if isOdd then even, odd = previous, current end
    reply[size + 1], reply[size + 2], reply[size + 3] = fits and 1 or 0, now, 0
    reply[size + 4], reply[size + 5] = even, odd
    size = size + 5
  end
end
