-- Twin of token-bucket.ts. Words: tokens, since, span.

local function stored(limit, _, tokens)
  return floor(tokens * limit[2] + 0.5)
end

local function wordsOf(words)
  local tokens, sinceUs, spanUs = unpackWords('<ddd', words)
  return tokens, sinceUs, 0, spanUs
end

local arithmetic = bucket(stored, 24, wordsOf)

function arithmetic.save(key, state, limit)
  local words = pack('<ddd', state.level / limit[2], state.sinceUs, arithmetic.spanUs(state, limit))
  write(key, words, arithmetic.wholeUs(state, limit), state.blockedUs)
end

return arithmetic
