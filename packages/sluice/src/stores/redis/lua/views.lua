-- What the windows have in common: a key's state is a list of views, one for each shape of limit that has looked at it
-- while it mattered. Whatever is taken or given back under one is so in all. A new view is a copy of the one that knows
-- most, and is written at once unless it is only looked at, so that from then on it knows what came when. Views live and
-- die together.
--
-- A window's file gives
--   length(raw)                  how many bytes of what is there are words; -1 if they are not ours
--   parse(words)                 the views; each has windowUs, slices and first (1 or 0)
--   packed(view)                 its words
--   fresh(limit)                 the view of a key that has taken nothing
--   adopted(view, limit)         what another view means under a limit
--   isWhole(view), wholeUs(view)
--   fits(state, limit, cost), takeFrom(view, cost, quota), refundTo(view, units, atUs), report(state, limit)

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
    -- The one that knows least, but for the new one, which is the last.
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
