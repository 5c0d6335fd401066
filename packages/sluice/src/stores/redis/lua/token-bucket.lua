-- Twin of token-bucket.ts. Words: tokens, since.

local function stored(limit, _, tokens)
  return floor(tokens * limit[2] + 0.5)
end

local function wordsOf(words)
  local tokens, sinceUs = unpackWords('<dd', words)
  return tokens, sinceUs, 0
end

local arithmetic = bucket(stored, 16, wordsOf)

function arithmetic.save(key, state, limit)
  write(key, pack('<dd', state.level / limit[2], state.sinceUs), arithmetic.wholeUs(state, limit), state.blockedUs)
end

return arithmetic
