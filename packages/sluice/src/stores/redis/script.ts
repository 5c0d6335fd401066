// Made by scripts/embed-lua.mjs from lua/*.lua. Change those, then run `node scripts/embed-lua.mjs`.

/** The algorithms, in the order of their numbers in a request. */
export const ALGORITHM_ORDER = [
  'token-bucket',
  'leaky-bucket',
  'fixed-window',
  'sliding-window',
  'sliding-log',
  'concurrency',
  'unlimited',
] as const

/** The script that decides, without the lines that say what time it is. */
export const SCRIPT_BODY = `local call, pcall, pack, unpackWords = redis.call, redis.pcall, struct.pack, struct.unpack
local floor, ceil, max, min, format = math.floor, math.ceil, math.max, math.min, string.format
local reply, size = { now }, 1
local LARGE = 2 ^ 49
local onlyCost, done = tonumber(ARGV[1]), 0
local function tokensOf(key, unit, perUs, full)
local raw = pcall('GET', key)
if not raw then return full end
if #raw ~= 16 then return nil end
local units, sinceUs = unpackWords('<dd', raw)
local tokens = floor(units * unit + 0.5)
local gained = (now - sinceUs) * perUs
if not (gained >= 0 and sinceUs % 1 == 0 and tokens > -LARGE) then return nil end
return gained >= full - tokens and full or tokens + gained
end
local function writeTokens(key, tokens, unit, perUs, full)
local ttl = ceil(ceil((full - tokens) / perUs) / 1000) + 1 + lingerMs
call('SET', key, pack('<dd', tokens / unit, now), 'PX', format('%d', ttl))
end
if onlyCost and ARGV[2] == '1' then
local unit, perUs = tonumber(ARGV[3]), tonumber(ARGV[4])
local full, parts = tonumber(ARGV[5]) * unit, onlyCost * unit
for i = 1, full < LARGE and #KEYS or 0 do
local tokens = tokensOf(KEYS[i], unit, perUs, full)
if not tokens then break end
local fits = tokens >= parts
if fits and onlyCost > 0 then
tokens = tokens - parts
writeTokens(KEYS[i], tokens, unit, perUs, full)
end
done, size = i, size + 1
reply[size] = (fits and 1 or 0) + 8 * tokens
end
if done == #KEYS then return reply end
end
local limits, steps, rules
local lastMs, lastText
local function ttlMs(untilUs)
local ms = ceil((untilUs - now) / 1000) + 1 + lingerMs
if ms ~= lastMs then lastMs, lastText = ms, format('%d', ms) end
return lastText
end
local fasts = {}
local function fastOf(limit)
if fasts[limit] == nil then
local look, take, report = (function(...)
local limit = ...
local algorithm = limit[1]
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
end)(limit)
fasts[limit] = look and { look = look, take = take, report = report } or false
end
return fasts[limit]
end
local made
local function states()
made = made or (function()
local function put(number)
size = size + 1
reply[size] = number
end
local function isWhole(number)
return number >= 0 and number < 2 ^ 53 and number % 1 == 0
end
local BLOCK, REMEMBERED = 17, 33
local NO_BLOCK = { untilUs = 0, lastUs = 0, rememberedUs = 0 }
local LEASED_BYTES = 48
local LEASES_A_ROUND = 4
local function nextRoundEndsUs(us, leaseUs)
local roundUs = LEASES_A_ROUND * leaseUs
return (floor(us / roundUs) + 2) * roundUs
end
local function readBlock(text)
local bytes = string.sub(text, -1) == 'r' and REMEMBERED or BLOCK
if #text < bytes then return nil end
local block = { lastUs = 0, rememberedUs = 0 }
local at = #text - bytes + 1
block.untilUs, block.wholeUs = unpackWords('<dd', text, at)
if bytes == REMEMBERED then block.lastUs, block.rememberedUs = unpackWords('<dd', text, at + 16) end
return block, bytes
end
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
local MOST_PARTS = 2 ^ 50
local function mostBeside(limit, held)
local most = limit[4] * limit[2] - held * limit[2]
return most > 0 and most or 0
end
local function refilled(limit, tokens, sinceUs, us, held)
local most = mostBeside(limit, held)
if us > sinceUs then tokens, sinceUs = tokens + (us - sinceUs) * limit[3], us end
return tokens < most and tokens or most, sinceUs
end
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
local function grant(limit, want, leaseUs, tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs)
local granted, untilUs = floor(tokens / limit[2]), now
if granted > want then granted = want end
if granted <= 0 then return 0, now, tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs end
untilUs = nextRoundEndsUs(now, leaseUs)
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
end)()
return leasedBucketMade
end
local generalMade
local function general()
generalMade = generalMade or (function()
local leasedWindow = function(...)
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
end
local bucket = function(...)
local isLeaky = ...
local MOST_PARTS = 2 ^ 50
local function stored(limit, units)
local parts = floor(units * limit[2] + 0.5)
if not isLeaky or units < 0 then return parts end
return max(0, limit[4] * limit[2] - parts)
end
local function tokensNow(limit, units, sinceUs)
local full = limit[4] * limit[2]
local tokens = max(stored(limit, units), -MOST_PARTS)
if tokens >= full then return full end
local gained = (now - sinceUs) * limit[3]
if gained <= 0 then return tokens end
return gained >= full - tokens and full or tokens + gained
end
local function openLeased(words, limit, block)
local tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs = leasedBucket().open(words, limit)
if not tokens then return nil end
local state = { tokens = tokens, sinceUs = sinceUs, lastCost = 0, block = block, stored = true }
if newerHeld + olderHeld > 0 then
state.newerHeld, state.newerUs, state.olderHeld, state.olderUs = newerHeld, newerUs, olderHeld, olderUs
end
return state
end
local function open(key, limit)
local words, block = read(key)
if words and not isLeaky and #words == LEASED_BYTES then return openLeased(words, limit, block) end
if words == nil or (words and #words ~= (isLeaky and 24 or 16)) then return nil end
if not words then
return { tokens = limit[4] * limit[2], sinceUs = now, lastCost = 0, block = block }
end
local units, sinceUs, lastCost = unpackWords(isLeaky and '<ddd' or '<dd', words)
local isState = isWhole(sinceUs) and units > -2 ^ 53 and units < 2 ^ 53 and (not isLeaky or isWhole(lastCost))
if not isState then return nil end
return {
tokens = tokensNow(limit, units, sinceUs), sinceUs = sinceUs, lastCost = lastCost, block = block, stored = true,
}
end
local function fits(state, limit, cost)
return cost <= limit[4] and state.tokens >= cost * limit[2]
end
local function take(state, limit, cost)
if now > state.sinceUs or state.tokens == limit[4] * limit[2] then state.sinceUs = now end
state.tokens = max(state.tokens - cost * limit[2], -MOST_PARTS)
state.lastCost = cost
end
local function endsAt(state, limit, queue, slot, atUs, delayMs)
local baseUs = max(now, state.sinceUs)
local slotEnd = (atUs - baseUs + delayMs * 1000) * limit[3] + slot
return math.abs(slotEnd - queue) * 2 < limit[2]
end
local function refund(state, limit, units, atUs, cost, delayMs, isUndo)
if isLeaky then
local queue = limit[4] * limit[2] - state.tokens
local lastCost = atUs and cost or state.lastCost
local slot = lastCost * limit[2]
if (queue <= slot and not isUndo) or (atUs and not endsAt(state, limit, queue, slot, atUs, delayMs)) then return false end
units = min(units, lastCost)
state.lastCost = lastCost - units
elseif state.tokens == limit[4] * limit[2] then
return false
end
if now > state.sinceUs then state.sinceUs = now end
local most = state.newerHeld and leasedBucket().mostBeside(limit, state.newerHeld + state.olderHeld)
state.tokens = min(most or limit[4] * limit[2], state.tokens + units * limit[2])
return true
end
local function save(key, state, limit)
local full, tokens, sinceUs, newerHeld = limit[4] * limit[2], state.tokens, state.sinceUs, state.newerHeld
if newerHeld then
local newerUs, olderHeld, olderUs = state.newerUs, state.olderHeld, state.olderUs
return leasedBucket().save(key, limit, state.block, tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs)
end
local wholeUs = tokens < full and sinceUs + ceil((full - tokens) / limit[3]) or now
local units = (isLeaky and tokens >= 0 and full - tokens or tokens) / limit[2]
local words = isLeaky and pack('<ddd', units, sinceUs, state.lastCost) or pack('<dd', units, sinceUs)
write(key, words, wholeUs, state.block)
end
local function aheadUs(state, limit)
return state.tokens == limit[4] * limit[2] and 0 or max(0, state.sinceUs - now)
end
local function report() end
return { open = open, fits = fits, take = take, refund = refund, save = save, aheadUs = aheadUs, report = report }
end
local log = function(...)
local HEADER, ENTRY = 16, 16
local SHORT = HEADER + 64 * ENTRY
local function open(key)
local raw = pcall('GETRANGE', key, 0, SHORT - 1)
if type(raw) ~= 'string' then return nil end
local bytes = #raw == SHORT and call('STRLEN', key) or #raw
local state = { key = key, dropped = 0, base = 0, block = NO_BLOCK, entries = 0 }
if bytes % 8 == 1 then
local block, blockBytes = readBlock(call('GETRANGE', key, -REMEMBERED, -1))
if not block then return nil end
state.block = block
bytes = bytes - blockBytes
raw = string.sub(raw, 1, bytes)
end
state.raw, state.bytes = raw, bytes
if bytes == 0 then return state end
if bytes < HEADER or (bytes - HEADER) % ENTRY ~= 0 then return nil end
state.dropped, state.base = unpackWords('<dd', raw)
state.entries = (bytes - HEADER) / ENTRY
state.stored = true
if not (isWhole(state.dropped) and state.dropped <= state.entries and isWhole(state.base)) then return nil end
return state
end
local function entry(state, index)
local at = HEADER + ENTRY * index
if at + ENTRY <= #state.raw then return unpackWords('<dd', state.raw, at + 1) end
return unpackWords('<dd', call('GETRANGE', state.key, at, at + ENTRY - 1))
end
local function unitsBefore(state, index)
if index <= state.dropped then return state.base end
local _, units = entry(state, index - 1)
return units
end
local function newestUs(state)
if state.entries == state.dropped then return nil end
return (entry(state, state.entries - 1))
end
local function laterUs(state)
local us = newestUs(state)
return us and max(now, us) or now
end
local function firstIndex(low, high, holds)
while low < high do
local middle = floor((low + high) / 2)
if holds(middle) then high = middle else low = middle + 1 end
end
return low
end
local function firstAfter(state, us)
return firstIndex(state.dropped, state.entries, function(index) return entry(state, index) > us end)
end
local function leavesUs(state, limit, cost)
local tooMany = unitsBefore(state, state.entries) - state.base + cost - limit[3]
if tooMany <= 0 then return nil end
return (entry(state, firstIndex(state.dropped, state.entries - 1, function(index)
return unitsBefore(state, index + 1) - state.base >= tooMany
end)))
end
local function fits(state, limit, cost)
if cost > limit[3] then return false end
local us = leavesUs(state, limit, cost)
return not us or us <= laterUs(state) - limit[2]
end
local function slice(state, from, to)
local first, last = HEADER + ENTRY * from, HEADER + ENTRY * to - 1
if #state.raw == state.bytes then return string.sub(state.raw, first + 1, last + 1) end
return last < first and '' or call('GETRANGE', state.key, first, last)
end
local function rewrite(state, limit, entries)
state.dropped, state.entries = 0, #entries / ENTRY
state.raw = pack('<dd', 0, state.base) .. entries
state.bytes = #state.raw
local wholeUs = state.entries > 0 and newestUs(state) + limit[2] or now
write(state.key, state.raw, wholeUs, state.block)
end
local function take(state, limit, cost)
local us = laterUs(state)
local units = unitsBefore(state, state.entries)
local from = firstAfter(state, us - limit[2])
local base = unitsBefore(state, from)
local taken = max(0, min(cost, 2 * limit[3] - (units - base)))
local last = state.entries
if taken > 0 and newestUs(state) == us then last = last - 1 end
state.dropped, state.base = from, base
local added = taken > 0 and pack('<dd', us, units + taken) or ''
if #state.raw == state.bytes or from > state.entries / 2 or state.block ~= NO_BLOCK or taken == 0 then
return rewrite(state, limit, slice(state, from, last) .. added)
end
call('SETRANGE', state.key, 0, pack('<dd', from, base))
call('SETRANGE', state.key, HEADER + ENTRY * last, added)
call('PEXPIRE', state.key, ttlMs(us + limit[2]))
state.entries = last + 1
state.bytes = HEADER + ENTRY * state.entries
end
local function refund(state, limit, units, atUs)
local last = atUs and firstAfter(state, atUs) or state.entries
local expired = unitsBefore(state, firstAfter(state, laterUs(state) - limit[2]))
local endUnits = unitsBefore(state, last)
local removed = min(units, max(0, endUnits - expired))
if removed == 0 then return false end
local kept = firstIndex(state.dropped, last, function(index)
return unitsBefore(state, index + 1) > endUnits - removed
end)
local before = slice(state, state.dropped, kept)
if unitsBefore(state, kept) < endUnits - removed then
before = before .. pack('<dd', entry(state, kept), endUnits - removed)
end
local behind, rest = {}, slice(state, last, state.entries)
for at = 1, #rest, ENTRY do
local us, until_ = unpackWords('<dd', rest, at)
behind[#behind + 1] = pack('<dd', us, until_ - removed)
end
rewrite(state, limit, before .. table.concat(behind))
return true
end
local function save() end
local function report(state, limit, cost, fitted)
local live = unitsBefore(state, state.entries) - unitsBefore(state, firstAfter(state, laterUs(state) - limit[2]))
put(live)
put(newestUs(state) or 0)
put(not fitted and cost <= limit[3] and leavesUs(state, limit, cost) or 0)
put(live > 0 and leavesUs(state, limit, min(max(0, limit[3] - live) + 1, limit[3])) or 0)
end
return { open = open, fits = fits, take = take, refund = refund, save = save, report = report }
end
local ALGORITHMS = {
function() return bucket(false) end,function() return bucket(true) end,function()
local LARGEST_DEBT = 1e15
local function open(key)
local words, block = read(key)
if words == nil or (words and #words ~= 16) then return nil end
if not words then return { markUs = now, count = 0, block = block } end
local markUs, count = unpackWords('<dd', words)
if not (isWhole(markUs) and isWhole(count)) then return nil end
return { markUs = markUs, count = count, block = block, stored = true }
end
local function laterUs(state)
return state.count > 0 and max(now, state.markUs) or now
end
local function startUs(state, limit)
local us = laterUs(state)
if limit[3] == 0 then return floor(us / limit[2]) * limit[2] end
return state.count > 0 and us - state.markUs < limit[2] and state.markUs or us
end
local function used(state, limit)
return state.markUs >= startUs(state, limit) and state.count or 0
end
local function fits(state, limit, cost)
return used(state, limit) + cost <= limit[4]
end
local function take(state, limit, cost)
local taken = used(state, limit)
state.markUs = limit[3] == 1 and startUs(state, limit) or laterUs(state)
state.count = min(taken + cost, limit[4] + LARGEST_DEBT)
end
local function refund(state, limit, units, atUs)
if atUs and atUs < startUs(state, limit) then return false end
state.count = max(0, used(state, limit) - units)
return true
end
local function save(key, state, limit)
local wholeUs = state.count > 0 and startUs(state, limit) + limit[2] or now
write(key, pack('<dd', state.markUs, state.count), wholeUs, state.block)
end
local function report(state)
put(state.markUs)
put(state.count)
end
local function left(state, limit)
return max(0, limit[4] - used(state, limit))
end
local lease = leasedWindow(refund, take, left, laterUs, function(state, limit) return startUs(state, limit) + limit[2] end)
return { open = open, fits = fits, take = take, refund = refund, save = save, report = report, lease = lease }
end,function()
local LARGEST_DEBT = 1e15
local LARGEST_EXACT, SPLITTER = 2 ^ 53 - 1, 2 ^ 27 + 1
local function highOf(a)
local scaled = a * SPLITTER
return scaled - (scaled - a)
end
local function errorOf(a, b, product)
local aHigh, bHigh = highOf(a), highOf(b)
local aLow, bLow = a - aHigh, b - bHigh
return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow)
end
local function isAtMost(a, b, c, d)
local left, right = a * b, c * d
if left == right then return errorOf(a, b, left) <= errorOf(c, d, right) end
return left < right
end
local function ceilRatio(a, b, c)
local product = a * b
local q = ceil(product / c)
if product <= LARGEST_EXACT then return q end
while not isAtMost(a, b, q, c) do q = q + 1 end
while q > 0 and isAtMost(a, b, q - 1, c) do q = q - 1 end
return q
end
local function sliceAt(state, us)
local sinceUs = us - state.originUs
local window = floor(sinceUs / state.windowUs)
local parts = (sinceUs - window * state.windowUs) * state.slices
return window * state.slices + floor(parts / state.windowUs)
end
local function sliceUs(state, slice)
local window = floor(slice / state.slices)
local parts = (slice - window * state.slices) * state.windowUs
return state.originUs + window * state.windowUs + ceil(parts / state.slices)
end
local function indexOf(state, slice)
local ring = state.slices + 1
return slice - floor(slice / ring) * ring + 1
end
local function newestSlice(state)
return sliceAt(state, state.latestUs)
end
local function countOf(state, slice)
local newest = newestSlice(state)
if slice > newest or slice < newest - state.slices then return 0 end
return state.counts[indexOf(state, slice)]
end
local function laterUs(state)
return max(now, state.latestUs)
end
local function sum(state, slice)
local total = 0
for j = slice - state.slices + 1, newestSlice(state) do total = total + state.counts[indexOf(state, j)] end
return total
end
local function leaving(state, slice, us)
local count = countOf(state, slice - state.slices)
if count == 0 then return 0 end
local window = floor(slice / state.slices)
local elapsed = (us - state.originUs - window * state.windowUs) * state.slices
- (slice - window * state.slices) * state.windowUs
return ceilRatio(count, state.windowUs - elapsed, state.windowUs)
end
local function newestTaken(state, us)
local oldest = sliceAt(state, us) - state.slices
for j = newestSlice(state), oldest, -1 do
if state.counts[indexOf(state, j)] > 0 then return j end
end
return nil
end
local function start(state, limit)
state.latestUs, state.originUs, state.counts = now, limit[3] == 1 and now or 0, {}
for i = 1, state.slices + 1 do state.counts[i] = 0 end
end
local function open(key, limit)
local words, block = read(key)
local counts = limit[5] + 1
if words == nil or (words and #words ~= 16 + 8 * counts) then return nil end
local state = { windowUs = limit[2], slices = limit[5], block = block, stored = words and true }
if words then
state.latestUs, state.originUs = unpackWords('<dd', words)
state.counts = { unpackWords('<' .. string.rep('d', counts), words, 17) }
state.counts[counts + 1] = nil
if not (isWhole(state.latestUs) and isWhole(state.originUs)) then return nil end
for i = 1, counts do
if not isWhole(state.counts[i]) then return nil end
end
else
start(state, limit)
end
return state
end
local function fits(state, limit, cost)
local us = laterUs(state)
local slice = sliceAt(state, us)
return leaving(state, slice, us) <= limit[4] - cost - sum(state, slice)
end
local function left(state, limit)
local us = laterUs(state)
local slice = sliceAt(state, us)
return max(0, limit[4] - sum(state, slice) - leaving(state, slice, us))
end
local function take(state, limit, cost)
if not newestTaken(state, laterUs(state)) then start(state, limit) end
local us = laterUs(state)
local slice = sliceAt(state, us)
for j = max(newestSlice(state) + 1, slice - state.slices), slice do state.counts[indexOf(state, j)] = 0 end
state.latestUs = us
local at = indexOf(state, slice)
state.counts[at] = min(state.counts[at] + cost, limit[4] + LARGEST_DEBT)
end
local function refund(state, _, units, atUs)
local newest = atUs and sliceAt(state, atUs) or newestSlice(state)
local oldest = sliceAt(state, laterUs(state)) - state.slices
if atUs then oldest = max(oldest, newest) end
local left = units
for j = newest, oldest, -1 do
if left <= 0 then break end
local refunded = min(left, countOf(state, j))
if refunded > 0 then
local at = indexOf(state, j)
state.counts[at] = state.counts[at] - refunded
end
left = left - refunded
end
return left < units
end
local function save(key, state)
local slice = newestTaken(state, laterUs(state))
local wholeUs = slice and sliceUs(state, slice + state.slices + 1) or now
local counts = pack('<' .. string.rep('d', state.slices + 1), unpack(state.counts))
write(key, pack('<dd', state.latestUs, state.originUs) .. counts, wholeUs, state.block)
end
local function report(state)
put(state.latestUs)
put(state.originUs)
for i = 1, state.slices + 1 do put(state.counts[i]) end
end
local function sliceEndUs(state)
return sliceUs(state, newestSlice(state) + 1)
end
local lease = leasedWindow(refund, take, left, laterUs, sliceEndUs)
return { open = open, fits = fits, take = take, refund = refund, save = save, report = report, lease = lease }
end,log,log,function()
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
local function nothing() end
return { open = open, fits = fits, take = nothing, refund = refund, save = nothing, report = nothing }
end
}
local arithmetics = {}
local function arithmeticOf(limit)
local algorithm = limit[1]
local arithmetic = arithmetics[algorithm]
if not arithmetic then
arithmetic = ALGORITHMS[algorithm]()
arithmetics[algorithm] = arithmetic
end
return arithmetic
end
local function allows(arithmetic, state, limit, cost)
return state and state.block.untilUs <= now and arithmetic.fits(state, limit, cost)
end
local function decide(key, limit, cost)
local arithmetic = arithmeticOf(limit)
local state = arithmetic.open(key, limit)
if not allows(arithmetic, state, limit, cost) then return describe(arithmetic, state, limit, cost) end
if cost > 0 then
arithmetic.take(state, limit, cost)
arithmetic.save(key, state, limit)
end
describe(arithmetic, state, limit, cost, true)
end
local function expiryUs(key, earlier)
return earlier.wholeUs or now + (call('PTTL', key) - 1) * 1000
end
local function setBlock(key, untilUs, lastUs, rememberedUs)
local words, earlier = read(key)
if words == nil then return false end
local wholeUs = words and expiryUs(key, earlier) or earlier.wholeUs
local block = { untilUs = untilUs, lastUs = lastUs or earlier.lastUs, rememberedUs = rememberedUs or earlier.rememberedUs }
write(key, words or '', wholeUs or now, block)
return true
end
local function blockOffender(key, earlier, rule)
local lastUs = rule[1]
if earlier.rememberedUs > now then lastUs = min(rule[3], max(rule[1], floor(earlier.lastUs * rule[2]))) end
local untilUs = now + lastUs
setBlock(key, untilUs, lastUs, rule[4] > 0 and untilUs + rule[4] or 0)
end
local function decideGroup(keyAt, at, count, isPeek, isDone)
local states, met, allowed, isShared, offenders = {}, {}, true, false, nil
for i = 1, count do
local limit, cost, role = limits[steps[at + 3 * i - 3]], steps[at + 3 * i - 2], steps[at + 3 * i - 1]
local arithmetic = arithmeticOf(limit)
local state = arithmetic.open(KEYS[keyAt + i], limit)
states[i] = state or false
met[i] = allows(arithmetic, state, limit, cost)
if not met[i] and (role % 4 < 2 or not state) then allowed = false end
if role % 2 == 0 then isShared = true end
local isOffence = role >= 4 and not isDone and state and not met[i] and cost > 0 and state.block.untilUs <= now
if isOffence then
offenders = offenders or {}
offenders[KEYS[keyAt + i]] = offenders[KEYS[keyAt + i]] or { state.block, rules[floor(role / 4)] }
end
end
if offenders then
for key, offender in pairs(offenders) do blockOffender(key, offender[1], offender[2]) end
return decideGroup(keyAt, at, count, isPeek, true)
end
if allowed and not isPeek then
for i = 1, count do
local limit, cost, role = limits[steps[at + 3 * i - 3]], steps[at + 3 * i - 2], steps[at + 3 * i - 1]
if met[i] and role % 2 == 1 and cost > 0 then
local arithmetic = arithmeticOf(limit)
arithmetic.take(states[i], limit, cost)
arithmetic.save(KEYS[keyAt + i], states[i], limit)
end
end
end
for i = 1, count do
local limit, cost = limits[steps[at + 3 * i - 3]], steps[at + 3 * i - 2]
local arithmetic = arithmeticOf(limit)
if allowed and isShared then states[i] = arithmetic.open(KEYS[keyAt + i], limit) end
describe(arithmetic, states[i], limit, cost, (allowed and met[i]) or nil)
end
return allowed
end
local function charge(key, limit, cost)
local arithmetic = arithmeticOf(limit)
local state = arithmetic.open(key, limit)
if state and cost > 0 then
arithmetic.take(state, limit, cost)
arithmetic.save(key, state, limit)
end
describe(arithmetic, state, limit, 1)
end
local function forgetBucket(key, block)
local words, earlier = read(key)
if not words or #words ~= LEASED_BYTES then return write(key, '', now, block) end
local newerHeld, newerUs, olderHeld, olderUs = unpackWords('<dddd', words, 17)
if newerUs <= now then newerHeld, newerUs = 0, 0 end
if olderUs <= now then olderHeld, olderUs = 0, 0 end
if newerHeld + olderHeld == 0 then return write(key, '', now, block) end
local wholeUs = max(expiryUs(key, earlier), newerUs, olderUs)
write(key, pack('<dddddd', 2 ^ 52, now, newerHeld, newerUs, olderHeld, olderUs), wholeUs, block)
end
local function set(key, limit, units)
local arithmetic = arithmeticOf(limit)
local state = arithmetic.open(key, limit)
if state then
if limit[1] == 1 then forgetBucket(key, state.block) else write(key, '', now, state.block) end
state = arithmetic.open(key, limit)
if units > 0 then
arithmetic.take(state, limit, units)
arithmetic.save(key, state, limit)
end
end
describe(arithmetic, state, limit, 1)
end
local function refund(key, limit, units, atUs, cost, delayMs, isUndo)
local arithmetic = arithmeticOf(limit)
local state = arithmetic.open(key, limit)
local isPossible = state and state.stored and units > 0
if isPossible and arithmetic.refund(state, limit, units, atUs, cost, delayMs, isUndo) then
arithmetic.save(key, state, limit)
end
describe(arithmetic, state, limit, isUndo and 0 or 1)
end
local function reset(keyAt, count)
forgetBucket(KEYS[keyAt + 1], NO_BLOCK)
for i = 2, count do call('DEL', KEYS[keyAt + i]) end
put(1)
end
local function block(keyAt, count, durationUs)
local head = 1
for i = 1, count do
if not setBlock(KEYS[keyAt + i], now + durationUs) then head = 6 end
end
put(head)
end
local overrides = function()
local KEPT_MS = 3600000
local MOST_CLEARED = 100
local function numberIn(values, field)
return tonumber(call('HGET', values, field) or 0)
end
local function isForeign(keyAt)
for i, wanted in ipairs({ 'hash', 'zset', 'zset' }) do
local kind = call('TYPE', KEYS[keyAt + i]).ok
if kind ~= wanted and kind ~= 'none' then return true end
end
return false
end
local function changes(keyAt, since, most, base)
local values = KEYS[keyAt + 1]
if isForeign(keyAt) then return put(6) end
local version = numberIn(values, '#version')
if base > version or base < numberIn(values, '#floor') then since = 0 end
put(1)
put(version)
put(since)
local found = {}
if since < version then
local after = '(' .. format('%d', since)
found = call('ZRANGEBYSCORE', KEYS[keyAt + 2], after, '+inf', 'WITHSCORES', 'LIMIT', 0, most)
end
local names = {}
for i = 1, #found, 2 do names[#names + 1] = found[i] end
put(#names)
local texts = #names > 0 and call('HMGET', values, unpack(names))
for i, name in ipairs(names) do
put(name)
put(tonumber(found[2 * i]))
put(texts[i] or '')
end
end
local function set(keyAt, name, value, untilMs)
local values, versions, ends = KEYS[keyAt + 1], KEYS[keyAt + 2], KEYS[keyAt + 3]
local nowMs = floor(now / 1000)
if isForeign(keyAt) then return put(6) end
put(1)
if untilMs >= 0 and untilMs <= nowMs then return put(0) end
local last = numberIn(values, '#version')
local version = max(now, last + 1)
if last == 0 then call('HSET', values, '#floor', format('%d', version)) end
call('HSET', values, name, value, '#version', format('%d', version))
call('ZADD', versions, format('%d', version), name)
if value == '' then untilMs = nowMs end
if untilMs >= 0 then
call('ZADD', ends, format('%d', untilMs), name)
else
call('ZREM', ends, name)
end
local cleared = numberIn(values, '#floor')
for _, over in ipairs(call('ZRANGEBYSCORE', ends, '-inf', format('%d', nowMs - KEPT_MS), 'LIMIT', 0, MOST_CLEARED)) do
cleared = max(cleared, tonumber(call('ZSCORE', versions, over) or 0))
call('HDEL', values, over)
call('ZREM', versions, over)
call('ZREM', ends, over)
call('HSET', values, '#floor', format('%d', cleared))
end
put(version)
end
return { changes = changes, set = set }
end
local reservations = function()
local KEPT_MS = 2592000000
local function isForeign(key, wanted)
local kind = call('TYPE', key).ok
return kind ~= wanted and kind ~= 'none'
end
local function readRecord(key)
local record = call('GET', key)
if not record then return nil end
local opened, ends = string.match(record, '^(%d+),(%d+)')
return record, tonumber(opened), tonumber(ends)
end
local function begin(keyAt)
local key = KEYS[keyAt + 1]
if isForeign(key, 'string') or isForeign(KEYS[keyAt + 2], 'zset') then
put(6)
return false
end
local record, _, ends = readRecord(key)
if not record then
put(1)
return true
end
if not ends then
put(6)
return false
end
put(ends * 1000 > now and 2 or 3)
put(record)
return false
end
local function keep(keyAt, member, ttl, payload, from)
local ends = ceil(now / 1000) + ttl
local numbers = { format('%d', now), format('%d', ends) }
for i = from, size do numbers[#numbers + 1] = format('%d', reply[i]) end
local keptMs = ttl + KEPT_MS
call('SET', KEYS[keyAt + 1], table.concat(numbers, ',') .. '\\n' .. payload, 'PX', format('%d', keptMs))
call('ZADD', KEYS[keyAt + 2], format('%d', ends), member)
if call('PTTL', KEYS[keyAt + 2]) < keptMs then call('PEXPIRE', KEYS[keyAt + 2], format('%d', keptMs)) end
put(now)
put(ends)
end
local function claim(keyAt, member, opened, hasEnded)
local key, ends = KEYS[keyAt + 1], KEYS[keyAt + 2]
local isSound = not isForeign(key, 'string') and not isForeign(ends, 'zset')
local record, openedHere, endsHere
if isSound then record, openedHere, endsHere = readRecord(key) end
local isClaimed = record and openedHere == opened and (endsHere * 1000 <= now) == (hasEnded == 1)
if isClaimed then call('DEL', key) end
if isSound and (isClaimed or not record) then call('ZREM', ends, member) end
put(isClaimed and 1 or 0)
return isClaimed
end
local function find(keyAt)
local key = KEYS[keyAt + 1]
local record = not isForeign(key, 'string') and readRecord(key)
put(record and 1 or 0)
if record then put(record) end
end
local function due(keyAt, from, most)
local ends = KEYS[keyAt + 1]
local nowMs = format('%d', floor(now / 1000))
local found = not isForeign(ends, 'zset') and call('ZRANGEBYSCORE', ends, '-inf', nowMs, 'LIMIT', from, most) or {}
put(#found)
for _, member in ipairs(found) do put(member) end
end
return { begin = begin, keep = keep, claim = claim, find = find, due = due }
end
return { overrides = overrides, reservations = reservations, arithmeticOf = arithmeticOf, decide = decide, decideGroup = decideGroup, charge = charge, set = set, refund = refund, reset = reset, block = block }
end)()
return generalMade
end
local leasesMade
local function leases()
leasesMade = leasesMade or (function()
local function isStale(guard, sequence)
local last = pcall('GET', guard)
return type(last) == 'string' and sequence <= (tonumber(last) or 0)
end
local function remember(guard, sequence, leaseUs, at, count)
local roundUs = LEASES_A_ROUND * leaseUs
local latestUs = now + 2 * roundUs
for i = at, at + 3 * count - 1, 3 do
if steps[i] > latestUs then latestUs = steps[i] end
end
call('SET', guard, format('%d', sequence), 'PX', ttlMs(latestUs + roundUs))
end
local bucket
local function exchangeBucket(key, guard, limit, want, leaseUs, sequence, at, count)
bucket = bucket or leasedBucket()
local words, block = read(key)
if words == nil then return put(6) end
local tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs = bucket.open(words, limit)
if not tokens then return put(6) end
local granted, untilUs, isChanged = 0, now, false
if not isStale(guard, sequence) then
if block.untilUs > now then want = 0 end
isChanged, tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs =
bucket.takeBack(limit, at, count, tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs)
granted, untilUs, tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs =
bucket.grant(limit, want, leaseUs, tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs)
if isChanged or granted > 0 then
bucket.save(key, limit, block, tokens, sinceUs, newerHeld, newerUs, olderHeld, olderUs)
end
remember(guard, sequence, leaseUs, at, count)
end
local aheadUs = tokens == limit[4] * limit[2] and 0 or sinceUs - now
putHead(tokens >= 0, block, aheadUs, tokens, newerHeld + olderHeld > 0 and newerHeld, newerUs, olderHeld, olderUs)
put(granted)
put(untilUs)
end
local function exchangeWindow(key, guard, limit, want, leaseUs, sequence, at, count)
local arithmetic = general().arithmeticOf(limit)
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
return { bucket = exchangeBucket, window = exchangeWindow }
end)()
return leasesMade
end
return { general = general, leases = leases }
end)()
return made
end
local function general()
return states().general()
end
local function decideEach(limit, cost, keyAt, count)
local fast = fastOf(limit)
for i = keyAt + 1, keyAt + count do
local key, fits, x, y = KEYS[i], nil, nil, nil
if fast then fits, x, y = fast.look(key, cost) end
if fits == nil then
general().decide(key, limit, cost)
else
if fits and cost > 0 then x, y = fast.take(key, cost, x, y) end
fast.report(fits, x, y)
end
end
end
local function decideTogether(keyAt, at, count, isPeek)
local seen, allowed = {}, true
for i = 1, count do
local limit, cost, role = limits[steps[at + 3 * i - 3]], steps[at + 3 * i - 2], steps[at + 3 * i - 1]
local fast = role % 4 == 1 and fastOf(limit)
local fits, x, y
if fast then fits, x, y = fast.look(KEYS[keyAt + i], cost) end
if fits == nil or (not fits and role >= 4) then return nil end
seen[3 * i - 2], seen[3 * i - 1], seen[3 * i] = fits, x, y or 0
allowed = allowed and fits
end
for i = 1, count do
local fast, cost = fastOf(limits[steps[at + 3 * i - 3]]), steps[at + 3 * i - 2]
local x, y = seen[3 * i - 1], seen[3 * i]
if allowed and cost > 0 and not isPeek then x, y = fast.take(KEYS[keyAt + i], cost, x, y) end
fast.report(seen[3 * i - 2], x, y)
end
return allowed
end
local function decideRequest(keyAt, at, count, isPeek)
local allowed = decideTogether(keyAt, at, count, isPeek)
if allowed == nil then allowed = general().decideGroup(keyAt, at, count, isPeek) end
return allowed
end
if onlyCost then
local limit = {}
for i = 2, #ARGV do limit[i - 1] = tonumber(ARGV[i]) end
decideEach(limit, onlyCost, done, #KEYS - done)
return reply
end
local request = cjson.decode(ARGV[1])
limits, steps, rules = request[1], request[2], request[3]
local keyAt, at = 0, 1
while steps[at] do
local step = steps[at]
if step == 1 then
decideEach(limits[steps[at + 1]], steps[at + 2], keyAt, steps[at + 3])
keyAt, at = keyAt + steps[at + 3], at + 4
elseif step == 2 or step == 13 then
local count = steps[at + 1]
decideRequest(keyAt, at + 2, count, step == 13)
keyAt, at = keyAt + count, at + 2 + 3 * count
elseif step == 3 then
general().charge(KEYS[keyAt + 1], limits[steps[at + 1]], steps[at + 2])
keyAt, at = keyAt + 1, at + 3
elseif step == 4 then
local limit, units, known = limits[steps[at + 1]], steps[at + 2], steps[at + 3]
local atUs = known > 0 and steps[at + 4] or nil
general().refund(KEYS[keyAt + 1], limit, units, atUs, steps[at + 5], steps[at + 6], known == 2)
keyAt, at = keyAt + 1, at + 7
elseif step == 5 then
general().reset(keyAt, steps[at + 1])
keyAt, at = keyAt + steps[at + 1], at + 2
elseif step == 6 then
general().block(keyAt, steps[at + 1], steps[at + 2])
keyAt, at = keyAt + steps[at + 1], at + 3
elseif step == 7 then
general().overrides().changes(keyAt, steps[at + 1], steps[at + 2], steps[at + 3])
keyAt, at = keyAt + 3, at + 4
elseif step == 8 then
general().overrides().set(keyAt, steps[at + 1], steps[at + 2], steps[at + 3])
keyAt, at = keyAt + 3, at + 4
elseif step == 9 then
local reservations, count, from = general().reservations(), steps[at + 4], size + 2
if reservations.begin(keyAt) and decideRequest(keyAt + 2, at + 5, count) then
reservations.keep(keyAt, steps[at + 1], steps[at + 2], steps[at + 3], from)
end
keyAt, at = keyAt + 2 + count, at + 5 + 3 * count
elseif step == 10 then
local isClaimed = general().reservations().claim(keyAt, steps[at + 1], steps[at + 2], steps[at + 3])
local numbers, keys = steps[at + 4], steps[at + 5]
keyAt, at = keyAt + 2 + (isClaimed and 0 or keys), at + 6 + (isClaimed and 0 or numbers)
elseif step == 11 then
general().reservations().find(keyAt)
keyAt, at = keyAt + 1, at + 1
elseif step == 12 then
general().reservations().due(keyAt, steps[at + 1], steps[at + 2])
keyAt, at = keyAt + 1, at + 3
elseif step == 14 then
general().set(KEYS[keyAt + 1], limits[steps[at + 1]], steps[at + 2])
keyAt, at = keyAt + 1, at + 3
else
local limit, want, leaseUs, sequence = limits[steps[at + 1]], steps[at + 2], steps[at + 3], steps[at + 4]
local leases, count = states().leases(), steps[at + 5]
local exchange = limit[1] == 1 and leases.bucket or leases.window
exchange(KEYS[keyAt + 1], KEYS[keyAt + 2], limit, want, leaseUs, sequence, at + 6, count)
keyAt, at = keyAt + 2, at + 6 + 3 * count
end
end
return reply`
