-- Twin of token-bucket.ts. Words: tokens, since, users.

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
  -- Of several users, none is known to need less than a whole filling.
  toGoUs = function(tokens, fillUs, unitUs, rounding)
    local counted = fillUs < 0 and min(0, tokens) or tokens
    local us = math.abs(fillUs) - counted * unitUs
    return us <= 0 and 0 or ceil(us + (math.abs(fillUs) + math.abs(counted) * unitUs) * rounding)
  end,
})
