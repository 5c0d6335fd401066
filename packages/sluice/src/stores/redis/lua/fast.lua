-- The most frequent limits, written out for speed: the token bucket, and the fixed window and the sliding window of one
-- slice that are aligned to the epoch. Tests hold them to the general form, to which they leave everything unusual: a key
-- that is blocked or holds no state, a state that has seen a later time, and numbers too large for one exact step.
--
-- Each gives a table of functions. x and y are the state as it stands now.
--   look(key, limit, cost)          does the cost fit, x, y; nothing if the case is unusual
--   take(key, limit, cost, x, y)    takes the cost and writes the state; returns x, y afterwards
--   report(limit, fits, x, y)       appends the head and the report

local function put(number)
  size = size + 1
  reply[size] = number
end

-- The PX of a key that has to last until a time. The expiry counts from the millisecond that has begun, hence one more.
-- Formatted here, because Redis is slower at it.
local function ttlMs(untilUs)
  return format('%d', ceil((untilUs - now) / 1000) + 1 + lingerMs)
end

-- x: tokens, in parts.
local function tokenBucket()
  local function look(key, limit, cost)
    local raw = pcall('GET', key)
    local tokens = limit.full
    if raw then
      if #raw ~= 16 then return nil end
      local units, sinceUs = unpackWords('<dd', raw)
      tokens = floor(units * limit[2] + 0.5)
      local gained = (now - sinceUs) * limit[3]
      if gained < 0 or tokens <= -LARGE then return nil end
      tokens = gained >= limit.full - tokens and limit.full or tokens + gained
    end
    return tokens >= cost * limit[2], tokens
  end

  local function take(key, limit, cost, tokens)
    local left = tokens - cost * limit[2]
    local ttl = ttlMs(now + ceil((limit.full - left) / limit[3]))
    call('SET', key, pack('<dd', left / limit[2], now), 'PX', ttl)
    return left
  end

  local function report(_, fits, tokens)
    put((fits and 1 or 0) + 8 * tokens)
  end

  return { look = look, take = take, report = report }
end

-- x: the units taken in this window.
local function fixedWindow()
  local function look(key, limit, cost)
    local raw = pcall('GET', key)
    local used = 0
    if raw then
      if #raw ~= 16 then return nil end
      local markUs, count = unpackWords('<dd', raw)
      if markUs > now then return nil end
      if markUs >= limit.window * limit[2] then used = count end
    end
    return used + cost <= limit[4], used
  end

  local function take(key, limit, cost, used)
    call('SET', key, pack('<dd', now, used + cost), 'PX', limit.ttl)
    return used + cost
  end

  local function report(_, fits, used)
    put(fits and 1 or 0)
    put(now)
    put(used)
  end

  return { look = look, take = take, report = report }
end

-- x: the units taken in the slice of now; y: in the slice before it. Slices of even number are counted in the third word.
local function slidingWindow()
  local function look(key, limit, cost)
    local windowUs, slice = limit[2], limit.window
    local current, previous = 0, 0
    local raw = pcall('GET', key)
    if raw then
      if #raw ~= 32 then return nil end
      local latestUs, _, even, odd = unpackWords('<dddd', raw)
      if latestUs > now then return nil end
      if latestUs >= slice * windowUs then
        current, previous = limit.isOdd and odd or even, limit.isOdd and even or odd
      elseif latestUs >= (slice - 1) * windowUs then
        previous = limit.isOdd and even or odd
      end
    end
    local share = previous * ((slice + 1) * windowUs - now)
    if share >= 2 ^ 53 then return nil end
    return ceil(share / windowUs) <= limit[4] - cost - current, current, previous
  end

  local function take(key, limit, cost, current, previous)
    current = current + cost
    local even, odd = limit.isOdd and previous or current, limit.isOdd and current or previous
    call('SET', key, pack('<dddd', now, 0, even, odd), 'PX', limit.ttl)
    return current, previous
  end

  local function report(limit, fits, current, previous)
    put(fits and 1 or 0)
    put(now)
    put(0)
    put(limit.isOdd and previous or current)
    put(limit.isOdd and current or previous)
  end

  return { look = look, take = take, report = report }
end

local MAKERS = { tokenBucket, false, fixedWindow, slidingWindow, false, false }
local fasts = {}

-- The fast path of a limit, or false. Adds to the limit what its fast path computes once a batch.
local function fastOf(limit)
  if limit.fast ~= nil then return limit.fast end
  local algorithm = limit[1]
  fasts[algorithm] = fasts[algorithm] or (MAKERS[algorithm] and MAKERS[algorithm]())
  limit.fast = fasts[algorithm]
  if algorithm == 1 then
    limit.full = limit[4] * limit[2]
    if limit.full >= LARGE then limit.fast = false end
  elseif limit.fast then
    local slices = algorithm == 4 and limit[5] or 1
    limit.window = floor(now / limit[2])
    limit.isOdd = limit.window % 2 == 1
    limit.ttl = ttlMs((limit.window + (algorithm == 4 and 2 or 1)) * limit[2])
    if limit[3] ~= 0 or slices ~= 1 then limit.fast = false end
  end
  return limit.fast
end

-- Decides a request of several demands: looks at all, then takes from all. Returns false, and has done nothing, if a
-- demand is unusual, is a shadow, or shares its state with another.
local function decideFast(keyAt, at, count)
  local seen, allowed = {}, true
  for i = 1, count do
    local limit, cost, role = limits[steps[at + 3 * i - 3]], steps[at + 3 * i - 2], steps[at + 3 * i - 1]
    local fast = role == 1 and fastOf(limit)
    if not fast then return false end
    local fits, x, y = fast.look(KEYS[keyAt + i], limit, cost)
    if fits == nil then return false end
    seen[3 * i - 2], seen[3 * i - 1], seen[3 * i] = fits, x, y or false
    if not fits then allowed = false end
  end
  for i = 1, count do
    local limit, cost = limits[steps[at + 3 * i - 3]], steps[at + 3 * i - 2]
    local fits, x, y = seen[3 * i - 2], seen[3 * i - 1], seen[3 * i]
    if allowed and cost > 0 then x, y = limit.fast.take(KEYS[keyAt + i], limit, cost, x, y) end
    limit.fast.report(limit, fits, x, y)
  end
  return true
end
