// Made by scripts/embed-lua.mjs from lua/*.lua. Change those, then run `node scripts/embed-lua.mjs`.

/** The algorithms, in the order of their numbers in a request. */
export const ALGORITHM_ORDER = [
  'token-bucket',
  'leaky-bucket',
  'fixed-window',
  'sliding-window',
  'sliding-log',
  'concurrency',
] as const

/** The script that decides, without the lines that say what time it is. */
export const SCRIPT_BODY = `local request = cjson.decode(ARGV[1])
local limits, steps = request[1], request[2]
local reply, size = { now }, 1
local keyAt, at, general = 0, 1, nil
local LARGE = 2 ^ 49
local done = 0
local call, pcall, pack, unpackWords = redis.call, redis.pcall, struct.pack, struct.unpack
local floor, ceil, format = math.floor, math.ceil, string.format
local function isPlain(limit, cost)
return limit[1] == 1 and cost > 0 and cost <= limit[4] and limit[4] * limit[2] < LARGE
end
local function usersOf(limit)
if not limit.users then
limit.users = unpackWords('<d', pack('<ff', limit[4] * limit[2] / limit[3], limit[2] / limit[3]))
end
return limit.users
end
local function plainLevel(key, limit)
local raw = pcall('GET', key)
local partsPerUnit = limit[2]
local full = limit[4] * partsPerUnit
if not raw then return full end
if #raw ~= 24 then return nil end
local tokens, sinceUs, users = unpackWords('<ddd', raw)
local gained = (now - sinceUs) * limit[3]
local stored = floor(tokens * partsPerUnit + 0.5)
if gained < 0 or stored >= full or stored <= -LARGE or users ~= usersOf(limit) then return nil end
return gained >= full - stored and full or stored + gained
end
local function savePlain(key, limit, level)
local full = limit[4] * limit[2]
local ttlMs = ceil(ceil((full - level) / limit[3]) / 1000) + 1 + lingerMs
call('SET', key, pack('<ddd', level / limit[2], now, usersOf(limit)), 'PX', format('%d', ttlMs))
end
while steps[at] do
local step, limit, cost, count = steps[at], limits[steps[at + 1]], steps[at + 2], steps[at + 3]
local isDone = false
if step == 1 and isPlain(limit, cost) then
local parts = cost * limit[2]
while done < count do
local key = KEYS[keyAt + done + 1]
local level = plainLevel(key, limit)
if not level then break end
local fits = 0
if level >= parts then
fits, level = 1, level - parts
savePlain(key, limit, level)
end
size = size + 1
reply[size] = fits + 8 * level
done = done + 1
end
isDone = done == count
elseif step == 2 then
count, isDone = steps[at + 1], true
local levels, allowed = {}, true
for i = 1, count do
local limit, cost, role = limits[steps[at + 3 * i - 1]], steps[at + 3 * i], steps[at + 3 * i + 1]
local level = role == 1 and isPlain(limit, cost) and plainLevel(KEYS[keyAt + i], limit)
if not level then
isDone = false
break
end
levels[i] = level
if level < cost * limit[2] then allowed = false end
end
for i = 1, isDone and count or 0 do
local limit, level = limits[steps[at + 3 * i - 1]], levels[i]
local parts = steps[at + 3 * i] * limit[2]
local fits = level >= parts and 1 or 0
if allowed then
level = level - parts
savePlain(KEYS[keyAt + i], limit, level)
end
size = size + 1
reply[size] = fits + 8 * level
end
end
if not isDone then
general = general or (function()
local max, min = math.max, math.min
local function ttlMs(untilUs)
return format('%d', ceil((untilUs - now) / 1000) + 1 + lingerMs)
end
local function put(number)
size = size + 1
reply[size] = number
end
local function read(key, length)
local raw = pcall('GET', key)
if not raw then return false, 0 end
if type(raw) ~= 'string' then return nil end
if #raw == 8 then return false, (unpackWords('<d', raw)) end
if type(length) == 'function' then length = length(raw) end
if #raw == length then return raw, 0 end
if #raw ~= length + 16 then return nil end
local blockedUs, wholeUs = unpackWords('<dd', raw, length + 1)
return string.sub(raw, 1, length), blockedUs, wholeUs
end
local function write(key, words, wholeUs, blockedUs)
if blockedUs > now then
local isWhole = wholeUs <= now
local both = isWhole and pack('<d', blockedUs) or words .. pack('<dd', blockedUs, wholeUs)
call('SET', key, both, 'PX', ttlMs(max(wholeUs, blockedUs)))
elseif wholeUs > now then
call('SET', key, words, 'PX', ttlMs(wholeUs))
else
call('DEL', key)
end
end
local function writeBlock(key, untilUs, length)
local words, _, wholeUs = read(key, length)
if words == nil then return false end
if words and not wholeUs then wholeUs = now + (call('PTTL', key) - 1) * 1000 end
write(key, words, wholeUs or now, untilUs)
return true
end
local bucket = function(...)
local bucket = ...
local length = bucket.length
local ERROR = 2 ^ -20
local LONGEST_US = 2 ^ 50
local LARGEST_LEVEL = 2 ^ 50
local function bothUsers(one, other)
if one == other then return one end
local fillUs, unitUs = unpackWords('<ff', pack('<d', one))
local otherFillUs, otherUnitUs = unpackWords('<ff', pack('<d', other))
local slowestUs = max(math.abs(fillUs), math.abs(otherFillUs))
return (unpackWords('<d', pack('<ff', -slowestUs, max(unitUs, otherUnitUs))))
end
local function wholeForAllUs(users, sinceUs, units)
local fillUs, unitUs = unpackWords('<ff', pack('<d', users))
return sinceUs + min(LONGEST_US, bucket.toGoUs(units, fillUs, unitUs, ERROR))
end
local function levelNow(limit, own, sinceUs)
local full = limit[4] * limit[2]
local stored = bucket.stored(limit, full, own)
local level = max(stored, -LARGEST_LEVEL)
if level >= full then return full, stored end
local gained = (now - sinceUs) * limit[3]
if gained >= full - level then return full, stored end
return gained > 0 and level + gained or level, stored
end
local function open(key, limit, isLook)
local words, blockedUs = read(key, length)
if words == nil then return nil end
local full = limit[4] * limit[2]
local fresh = {
level = full, sinceUs = now, blockedUs = blockedUs, lastCost = 0, room = limit[4], excess = 0, users = usersOf(limit),
}
if not words then return fresh end
local kept, sinceUs, lastCost, room, excess, users = bucket.wordsOf(words)
if users ~= fresh.users then
if wholeForAllUs(users, sinceUs, kept + excess) <= now then return fresh end
local all = bothUsers(users, fresh.users)
if all ~= users and not isLook then
users = all
local patched = string.sub(words, 1, length - 8) .. pack('<d', users)
write(key, patched, wholeForAllUs(users, sinceUs, kept + excess), blockedUs)
end
end
local own = bucket.own(kept, room, excess, limit[4])
local level, stored = levelNow(limit, own, sinceUs)
local isBeyondCount = stored < -LARGEST_LEVEL
if not isBeyondCount then
room, excess = limit[4], kept + excess - own
if excess > 0 then
local left = max(0, now - sinceUs) * limit[3] / limit[2]
excess = max(0, excess - max(0, left - own))
else
excess = 0
end
end
return {
level = level, sinceUs = sinceUs, blockedUs = blockedUs, lastCost = lastCost, users = users, isAbove = stored >= full,
kept = kept, room = room, excess = excess, isBeyondCount = isBeyondCount, stored = true,
}
end
local function fits(state, limit, cost)
return cost <= limit[4] and state.level >= cost * limit[2]
end
local function addToDebt(state, limit, units)
state.kept = bucket.debt(state.kept, units)
state.level = levelNow(limit, bucket.own(state.kept, state.room, state.excess, limit[4]), state.sinceUs)
end
local function take(state, limit, cost)
state.lastCost = cost
if state.isBeyondCount then return addToDebt(state, limit, cost) end
if now > state.sinceUs or (state.level == limit[4] * limit[2] and state.excess == 0) then state.sinceUs = now end
state.level = max(state.level - cost * limit[2], -LARGEST_LEVEL)
end
local function refund(state, limit, units)
if state.isAbove then return false end
if state.isBeyondCount then
addToDebt(state, limit, -units)
return true
end
if now > state.sinceUs then state.sinceUs = now end
state.level = min(limit[4] * limit[2], state.level + units * limit[2])
return true
end
local function save(key, state, limit)
local full = limit[4] * limit[2]
if not state.isBeyondCount then state.kept = bucket.kept(state.level, limit, full) end
local wholeUs = now
if state.users ~= usersOf(limit) then
wholeUs = wholeForAllUs(state.users, state.sinceUs, state.kept + state.excess)
elseif state.level < full then
wholeUs = state.sinceUs + ceil((full - state.level) / limit[3])
end
write(key, bucket.packed(state), wholeUs, state.blockedUs)
end
local function aheadUs(state, limit)
return state.level == limit[4] * limit[2] and 0 or max(0, state.sinceUs - now)
end
local function report() end
local function block(key, untilUs)
return writeBlock(key, untilUs, length)
end
return {
open = open, fits = fits, take = take, refund = refund, save = save,
aheadUs = aheadUs, report = report, block = block,
}
end
local views = function(...)
local window = ...
local MOST_VIEWS = 8
local NO_QUOTA = 1e15
local function isFuller(one, other)
if one.windowUs ~= other.windowUs then return one.windowUs > other.windowUs end
if one.slices ~= other.slices then return one.slices > other.slices end
return one.first < other.first
end
local function save(key, state)
local words, wholeUs = {}, now
for i, view in ipairs(state.views) do
words[i] = window.packed(view)
wholeUs = max(wholeUs, window.wholeUs(view))
end
write(key, table.concat(words), wholeUs, state.blockedUs)
end
local function open(key, limit, isLook)
local words, blockedUs = read(key, window.length)
if words == nil then return nil end
local state = { views = {}, blockedUs = blockedUs }
local fullest, isWhole = nil, true
for _, view in ipairs(words and window.parse(words) or {}) do
state.views[#state.views + 1] = view
if not window.isWhole(view) then isWhole = false end
if not fullest or isFuller(view, fullest) then fullest = view end
if view.windowUs == limit[2] and view.first == limit[3] and view.slices == (limit[5] or 1) then state.own = view end
end
state.stored = state.own ~= nil
if state.own then return state end
if isWhole then
state.own = window.fresh(limit)
state.views = { state.own }
return state
end
state.own, state.stored = window.adopted(fullest, limit), true
state.views[#state.views + 1] = state.own
if #state.views > MOST_VIEWS then
local least = 1
for i = 2, #state.views - 1 do
if isFuller(state.views[least], state.views[i]) then least = i end
end
table.remove(state.views, least)
end
if not isLook then save(key, state) end
return state
end
local function take(state, limit, cost)
for _, view in ipairs(state.views) do
window.takeFrom(view, cost, view == state.own and limit[4] or NO_QUOTA)
end
end
local function refund(state, _, units, atUs)
local given = false
for _, view in ipairs(state.views) do given = window.refundTo(view, units, atUs) or given end
return given
end
local function block(key, untilUs)
return writeBlock(key, untilUs, window.length)
end
return {
open = open, fits = window.fits, take = take, refund = refund, save = save, report = window.report, block = block,
}
end
local log = function(...)
local HEADER, ENTRY = 48, 16
local SHORT = HEADER + 64 * ENTRY
local function keepFor(state, limit)
if limit[2] <= state.keptUs and limit[3] <= state.keptUnits then return end
state.wholeUs = state.wholeUs - state.keptUs + max(state.keptUs, limit[2])
state.keptUs, state.keptUnits = max(state.keptUs, limit[2]), max(state.keptUnits, limit[3])
local header = pack('<ddd', state.wholeUs, state.keptUs, state.keptUnits)
call('SETRANGE', state.key, 24, header)
call('PEXPIRE', state.key, ttlMs(max(state.wholeUs, state.blockedUs)))
state.raw = string.sub(state.raw, 1, 24) .. header .. string.sub(state.raw, HEADER + 1)
end
local function open(key, limit, isLook)
local raw = pcall('GETRANGE', key, 0, SHORT - 1)
if type(raw) ~= 'string' then return nil end
local state = { key = key, raw = raw, bytes = #raw, dropped = 0, base = 0, blockedUs = 0, entries = 0, keptUs = 0, keptUnits = 0 }
if raw == '' then return state end
if #raw == SHORT then state.bytes = call('STRLEN', key) end
if #raw < HEADER or (state.bytes - HEADER) % ENTRY ~= 0 then return nil end
state.dropped, state.base, state.blockedUs, state.wholeUs, state.keptUs, state.keptUnits = unpackWords('<dddddd', raw)
state.entries = (state.bytes - HEADER) / ENTRY
state.stored = state.entries > 0
if limit and not isLook and state.wholeUs > now then keepFor(state, limit) end
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
local function firstAfter(state, us)
local low, high = state.dropped, state.entries
while low < high do
local middle = floor((low + high) / 2)
if entry(state, middle) <= us then low = middle + 1 else high = middle end
end
return low
end
local function leavesUs(state, limit, cost)
local tooMany = unitsBefore(state, state.entries) - state.base + cost - limit[3]
if tooMany <= 0 then return nil end
local low, high = state.dropped, state.entries - 1
while low < high do
local middle = floor((low + high) / 2)
if unitsBefore(state, middle + 1) - state.base >= tooMany then high = middle else low = middle + 1 end
end
return (entry(state, low))
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
local function header(state)
local blockedUs = state.blockedUs > now and state.blockedUs or 0
return pack('<dddddd', state.dropped, state.base, blockedUs, state.wholeUs, state.keptUs, state.keptUnits)
end
local function rewrite(state, entries)
state.dropped = 0
state.entries = #entries / ENTRY
state.wholeUs = state.entries > 0 and unpackWords('<d', entries, #entries - ENTRY + 1) + state.keptUs or 0
state.raw = header(state) .. entries
state.bytes = #state.raw
local untilUs = max(state.wholeUs, state.blockedUs)
if untilUs > now then
call('SET', state.key, state.raw, 'PX', ttlMs(untilUs))
else
call('DEL', state.key)
end
end
local function firstNeeded(state, us, units)
local low, high = firstAfter(state, us - state.keptUs), state.entries
while low < high do
local middle = floor((low + high) / 2)
if unitsBefore(state, middle + 1) <= units - 2 * state.keptUnits then low = middle + 1 else high = middle end
end
return low
end
local function take(state, limit, cost)
local us = laterUs(state)
local units = unitsBefore(state, state.entries)
local live = units - unitsBefore(state, firstAfter(state, us - limit[2]))
local taken = max(0, min(cost, 2 * limit[3] - live))
state.keptUs, state.keptUnits = max(state.keptUs, limit[2]), max(state.keptUnits, limit[3])
local first = firstNeeded(state, us, units + taken)
local base = unitsBefore(state, first)
local last = state.entries
if taken > 0 and newestUs(state) == us then last = last - 1 end
state.dropped, state.base = first, base
local added = taken > 0 and pack('<dd', us, units + taken) or ''
if #state.raw == state.bytes or first > state.entries / 2 then
return rewrite(state, slice(state, first, last) .. added)
end
if taken > 0 then state.wholeUs = us + state.keptUs end
call('SETRANGE', state.key, 0, header(state))
call('SETRANGE', state.key, HEADER + ENTRY * last, added)
call('PEXPIRE', state.key, ttlMs(max(state.wholeUs, state.blockedUs)))
state.entries = last + #added / ENTRY
state.bytes = HEADER + ENTRY * state.entries
end
local function refund(state, limit, units, atUs)
local last = atUs and firstAfter(state, atUs) or state.entries
local gone = unitsBefore(state, firstAfter(state, laterUs(state) - limit[2]))
local endUnits = unitsBefore(state, last)
local given = min(units, max(0, endUnits - gone))
if given == 0 then return false end
local kept, high = state.dropped, last
while kept < high do
local middle = floor((kept + high + 1) / 2)
if unitsBefore(state, middle) <= endUnits - given then kept = middle else high = middle - 1 end
end
local before = slice(state, state.dropped, kept)
if unitsBefore(state, kept) < endUnits - given then
before = before .. pack('<dd', entry(state, kept), endUnits - given)
end
local behind, rest = {}, slice(state, last, state.entries)
for at = 1, #rest, ENTRY do
local us, until_ = unpackWords('<dd', rest, at)
behind[#behind + 1] = pack('<dd', us, until_ - given)
end
rewrite(state, before .. table.concat(behind))
return true
end
local function save() end
local function report(state, limit, cost, fitted)
local live = unitsBefore(state, state.entries) - unitsBefore(state, firstAfter(state, laterUs(state) - limit[2]))
put(live)
put(newestUs(state) or 0)
put(not fitted and cost <= limit[3] and leavesUs(state, limit, cost) or 0)
put(live > 0 and leavesUs(state, limit, max(0, limit[3] - live) + 1) or 0)
end
local function block(key, untilUs)
local state = open(key)
if not state then return false end
if state.bytes == 0 then
call('SET', key, pack('<dddddd', 0, 0, untilUs, 0, 0, 0), 'PX', ttlMs(untilUs))
else
call('SETRANGE', key, 16, pack('<d', untilUs))
call('PEXPIRE', key, ttlMs(max(state.wholeUs, untilUs)))
end
return true
end
return { open = open, fits = fits, take = take, refund = refund, save = save, report = report, block = block }
end
local ALGORITHMS = {
function()
return bucket({
length = 24,
wordsOf = function(words)
local tokens, sinceUs, users = unpackWords('<ddd', words)
return tokens, sinceUs, 0, 0, 0, users
end,
packed = function(state) return pack('<ddd', state.kept, state.sinceUs, state.users) end,
own = function(tokens) return tokens end,
stored = function(limit, _, tokens) return floor(tokens * limit[2] + 0.5) end,
kept = function(level, limit) return level / limit[2] end,
debt = function(tokens, units) return max(tokens - units, -1e15) end,
toGoUs = function(tokens, fillUs, unitUs, rounding)
local counted = fillUs < 0 and min(0, tokens) or tokens
local us = math.abs(fillUs) - counted * unitUs
return us <= 0 and 0 or ceil(us + (math.abs(fillUs) + math.abs(counted) * unitUs) * rounding)
end,
})
end,function()
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
local function endsAt(state, limit, queue, slot, atUs, delayMs)
local baseUs = max(now, state.sinceUs)
local slotEnd = (atUs - baseUs + delayMs * 1000) * limit[3] + slot
return math.abs(slotEnd - queue) * 2 < limit[2]
end
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
end,function()
local LARGEST_DEBT = 1e15
local VIEW = 24
local function length(raw)
local bytes = floor(#raw / VIEW) * VIEW
return bytes > 0 and bytes or -1
end
local function parse(words)
local parsed = {}
for at = 1, #words, VIEW do
local windowUs, markUs, count = unpackWords('<ddd', words, at)
parsed[#parsed + 1] =
{ windowUs = math.abs(windowUs), first = windowUs < 0 and 1 or 0, slices = 1, markUs = markUs, count = count }
end
return parsed
end
local function packed(view)
return pack('<ddd', view.first == 1 and -view.windowUs or view.windowUs, view.markUs, view.count)
end
local function laterUs(view)
return view.count > 0 and max(now, view.markUs) or now
end
local function startUs(view)
local us = laterUs(view)
if view.first == 0 then return floor(us / view.windowUs) * view.windowUs end
return view.count > 0 and us - view.markUs < view.windowUs and view.markUs or us
end
local function used(view)
return view.markUs >= startUs(view) and view.count or 0
end
local function isWhole(view)
return used(view) == 0
end
local function wholeUs(view)
return view.count == 0 and now or startUs(view) + view.windowUs
end
local function fresh(limit)
return { windowUs = limit[2], first = limit[3], slices = 1, markUs = now, count = 0 }
end
local function adopted(view, limit)
local copy = fresh(limit)
copy.markUs, copy.count = view.markUs, view.count
if view.first == 1 and not isWhole(view) then copy.markUs = max(now, view.markUs) end
return copy
end
local function fits(state, limit, cost)
return used(state.own) + cost <= limit[4]
end
local function takeFrom(view, cost, quota)
local taken = used(view)
view.markUs = view.first == 1 and startUs(view) or laterUs(view)
view.count = min(taken + cost, quota + LARGEST_DEBT)
end
local function refundTo(view, units, atUs)
if atUs and atUs < startUs(view) then return false end
view.count = max(0, used(view) - units)
return true
end
local function report(state)
put(state.own.markUs)
put(state.own.count)
end
return views({
length = length, parse = parse, packed = packed, fresh = fresh, adopted = adopted, isWhole = isWhole,
wholeUs = wholeUs, fits = fits, takeFrom = takeFrom, refundTo = refundTo, report = report,
})
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
local function sliceAt(view, us)
local sinceUs = us - view.originUs
local window = floor(sinceUs / view.windowUs)
local parts = (sinceUs - window * view.windowUs) * view.slices
return window * view.slices + floor(parts / view.windowUs)
end
local function sliceUs(view, slice)
local window = floor(slice / view.slices)
local parts = (slice - window * view.slices) * view.windowUs
return view.originUs + window * view.windowUs + ceil(parts / view.slices)
end
local function place(view, slice)
local ring = view.slices + 1
return slice - floor(slice / ring) * ring + 1
end
local function newestSlice(view)
return sliceAt(view, view.latestUs)
end
local function countOf(view, slice)
local newest = newestSlice(view)
if slice > newest or slice < newest - view.slices then return 0 end
return view.counts[place(view, slice)]
end
local function laterUs(view)
return max(now, view.latestUs)
end
local function sum(view, slice)
local total = 0
for j = slice - view.slices + 1, newestSlice(view) do total = total + view.counts[place(view, j)] end
return total
end
local function leaving(view, slice, us)
local count = countOf(view, slice - view.slices)
if count == 0 then return 0 end
local window = floor(slice / view.slices)
local elapsed = (us - view.originUs - window * view.windowUs) * view.slices
- (slice - window * view.slices) * view.windowUs
return ceilRatio(count, view.windowUs - elapsed, view.windowUs)
end
local function newestTaken(view, us)
local oldest = sliceAt(view, us) - view.slices
for j = newestSlice(view), oldest, -1 do
if view.counts[place(view, j)] > 0 then return j end
end
return nil
end
local function start(view, us)
view.latestUs, view.originUs = us, view.first == 1 and us or 0
view.counts = {}
for i = 1, view.slices + 1 do view.counts[i] = 0 end
end
local function fresh(limit)
local view = { windowUs = limit[2], first = limit[3], slices = limit[5] }
start(view, now)
return view
end
local function length(raw)
local bytes = 0
while #raw - bytes > 16 do
local _, slices = unpackWords('<dd', raw, bytes + 1)
local view = 8 * (5 + math.abs(slices))
if slices == 0 or floor(slices) ~= slices or bytes + view > #raw then return -1 end
bytes = bytes + view
end
return bytes > 0 and bytes or -1
end
local function parse(words)
local parsed, at = {}, 1
while at <= #words do
local windowUs, slices, latestUs, originUs = unpackWords('<dddd', words, at)
local view = { windowUs = windowUs, first = slices < 0 and 1 or 0, slices = math.abs(slices) }
view.latestUs, view.originUs = latestUs, originUs
view.counts = { unpackWords('<' .. string.rep('d', view.slices + 1), words, at + 32) }
view.counts[view.slices + 2] = nil
parsed[#parsed + 1] = view
at = at + 8 * (5 + view.slices)
end
return parsed
end
local function packed(view)
local slices = view.first == 1 and -view.slices or view.slices
return pack('<dddd', view.windowUs, slices, view.latestUs, view.originUs)
.. pack('<' .. string.rep('d', view.slices + 1), unpack(view.counts))
end
local function adopted(view, limit)
local slice = newestSlice(view)
local amount = sum(view, slice) + leaving(view, slice, view.latestUs)
local copy = fresh(limit)
start(copy, view.latestUs)
copy.counts[place(copy, newestSlice(copy))] = amount
return copy
end
local function isWhole(view)
return not newestTaken(view, laterUs(view))
end
local function wholeUs(view)
local slice = newestTaken(view, laterUs(view))
return slice and sliceUs(view, slice + view.slices + 1) or view.latestUs
end
local function fits(state, limit, cost)
local us = laterUs(state.own)
local slice = sliceAt(state.own, us)
return leaving(state.own, slice, us) <= limit[4] - cost - sum(state.own, slice)
end
local function takeFrom(view, cost, quota)
if isWhole(view) then start(view, now) end
local us = laterUs(view)
local slice = sliceAt(view, us)
for j = max(newestSlice(view) + 1, slice - view.slices), slice do view.counts[place(view, j)] = 0 end
view.latestUs = us
local at = place(view, slice)
view.counts[at] = min(view.counts[at] + cost, quota + LARGEST_DEBT)
end
local function refundTo(view, units, atUs)
local newest = atUs and sliceAt(view, atUs) or newestSlice(view)
local oldest = sliceAt(view, laterUs(view)) - view.slices
if atUs then oldest = max(oldest, newest) end
local left = units
for j = newest, oldest, -1 do
if left <= 0 then break end
local given = min(left, countOf(view, j))
if given > 0 then
local at = place(view, j)
view.counts[at] = view.counts[at] - given
end
left = left - given
end
return left < units
end
local function report(state)
local view = state.own
put(view.latestUs)
put(view.originUs)
for i = 1, view.slices + 1 do put(view.counts[i]) end
end
return views({
length = length, parse = parse, packed = packed, fresh = fresh, adopted = adopted, isWhole = isWhole,
wholeUs = wholeUs, fits = fits, takeFrom = takeFrom, refundTo = refundTo, report = report,
})
end,log,log
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
local function describeAs(arithmetic, state, limit, cost, fits)
local level = state.level or 0
local aheadUs = arithmetic.aheadUs and arithmetic.aheadUs(state, limit) or 0
local head = fits and 1 or 0
if state.blockedUs > now then
put(head + 2)
put(state.blockedUs)
put(aheadUs)
put(level)
elseif aheadUs > 0 or level >= LARGE or level <= -LARGE then
put(head + 4)
put(aheadUs)
put(level)
else
put(head + 8 * level)
end
arithmetic.report(state, limit, cost, fits)
end
local function describe(arithmetic, state, limit, cost)
if state then
describeAs(arithmetic, state, limit, cost, arithmetic.fits(state, limit, cost))
else
put(6)
end
end
local function allows(arithmetic, state, limit, cost)
return state and state.blockedUs <= now and arithmetic.fits(state, limit, cost)
end
local function decide(key, limit, cost)
local arithmetic = arithmeticOf(limit)
local state = arithmetic.open(key, limit, cost == 0)
if not allows(arithmetic, state, limit, cost) then return describe(arithmetic, state, limit, cost) end
if cost > 0 then
arithmetic.take(state, limit, cost)
arithmetic.save(key, state, limit)
end
describeAs(arithmetic, state, limit, cost, true)
end
local function decideGroup(keyAt, at, count)
local states, met, allowed, isShared = {}, {}, true, false
for i = 1, count do
local limit, cost, role = limits[steps[at + 3 * i - 3]], steps[at + 3 * i - 2], steps[at + 3 * i - 1]
local arithmetic = arithmeticOf(limit)
local state = arithmetic.open(KEYS[keyAt + i], limit, cost == 0)
states[i] = state or false
met[i] = allows(arithmetic, state, limit, cost)
if not met[i] and (role < 2 or not state) then allowed = false end
if role % 2 == 0 then isShared = true end
end
if allowed then
for i = 1, count do
local limit, cost, role = limits[steps[at + 3 * i - 3]], steps[at + 3 * i - 2], steps[at + 3 * i - 1]
if met[i] and role % 2 == 1 and cost > 0 then
local arithmetic = arithmeticOf(limit)
if isShared then states[i] = arithmetic.open(KEYS[keyAt + i], limit) end
arithmetic.take(states[i], limit, cost)
arithmetic.save(KEYS[keyAt + i], states[i], limit)
end
end
end
for i = 1, count do
local limit, cost = limits[steps[at + 3 * i - 3]], steps[at + 3 * i - 2]
local arithmetic = arithmeticOf(limit)
if allowed and isShared then states[i] = arithmetic.open(KEYS[keyAt + i], limit, cost == 0) end
if allowed and met[i] then
describeAs(arithmetic, states[i], limit, cost, true)
else
describe(arithmetic, states[i], limit, cost)
end
end
end
local function charge(key, limit, cost)
local arithmetic = arithmeticOf(limit)
local state = arithmetic.open(key, limit, cost == 0)
if state and cost > 0 then
arithmetic.take(state, limit, cost)
arithmetic.save(key, state, limit)
end
describe(arithmetic, state, limit, 0)
end
local function refund(key, limit, units, atUs, cost, delayMs, isUndo)
local arithmetic = arithmeticOf(limit)
local state = arithmetic.open(key, limit, units == 0)
local isGiven = state and state.stored and units > 0
if isGiven and arithmetic.refund(state, limit, units, atUs, cost, delayMs, isUndo) then
arithmetic.save(key, state, limit)
end
describe(arithmetic, state, limit, 0)
end
local function reset(keyAt)
for algorithm = 1, #ALGORITHMS do call('DEL', KEYS[keyAt + algorithm]) end
put(1)
end
local function block(keyAt, durationUs)
local head = 1
for algorithm = 1, #ALGORITHMS do
if not arithmeticOf({ algorithm }).block(KEYS[keyAt + algorithm], now + durationUs) then head = 6 end
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
return { overrides = overrides, decide = decide, decideGroup = decideGroup, charge = charge, refund = refund, reset = reset, block = block }
end)()
end
if step == 1 then
if done < count then
general.decide(KEYS[keyAt + done + 1], limit, cost)
done = done + 1
end
if done == count then
keyAt, at, done = keyAt + count, at + 4, 0
end
elseif step == 2 then
if not isDone then general.decideGroup(keyAt, at + 2, count) end
keyAt, at = keyAt + count, at + 2 + 3 * count
elseif step == 3 then
general.charge(KEYS[keyAt + 1], limit, cost)
keyAt, at = keyAt + 1, at + 3
elseif step == 4 then
if count > 0 then
general.refund(KEYS[keyAt + 1], limit, cost, steps[at + 4], steps[at + 5], steps[at + 6], count == 2)
at = at + 7
else
general.refund(KEYS[keyAt + 1], limit, cost)
at = at + 4
end
keyAt = keyAt + 1
elseif step == 5 then
general.reset(keyAt)
keyAt, at = keyAt + 6, at + 1
elseif step == 6 then
general.block(keyAt, steps[at + 1])
keyAt, at = keyAt + 6, at + 2
elseif step == 7 then
general.overrides().changes(keyAt, steps[at + 1], steps[at + 2], steps[at + 3])
keyAt, at = keyAt + 3, at + 4
else
general.overrides().set(keyAt, steps[at + 1], steps[at + 2], steps[at + 3])
keyAt, at = keyAt + 3, at + 4
end
end
return reply`
