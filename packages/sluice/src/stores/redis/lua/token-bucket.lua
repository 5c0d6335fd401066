-- Twin of token-bucket.ts. Words: tokens, since, users.

return bucket({
  length = 24,
  wordsOf = function(words)
    local tokens, sinceUs, users = unpackWords('<ddd', words)
    return tokens, sinceUs, 0, 0, users
  end,
  stored = function(limit, _, tokens) return floor(tokens * limit[2] + 0.5) end,
  kept = function(state, limit) return state.level / limit[2] end,
  packed = function(state, _, tokens) return pack('<ddd', tokens, state.sinceUs, state.users) end,
  toGoUs = function(tokens, fillUs, unitUs) return fillUs + max(0, -tokens) * unitUs end,
})
