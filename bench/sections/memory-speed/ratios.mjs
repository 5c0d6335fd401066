/** Nanoseconds a call, with the key string that it needs. */
export function grossNs(data, name, contender, keys) {
  // The rows that decide nothing are measured once: they cost the same whatever the others decide.
  const measured = data[name][contender] ?? data.admitted[contender]
  return measured?.[keys]?.median
}

/** How many times as long as the other a contender takes, key strings included in both. */
export function grossRatio(data, name, contender, other, keys) {
  return quotient(grossNs(data, name, contender, keys), grossNs(data, name, other, keys))
}

/** The same without the key string, whose cost is taken from both. */
export function netRatio(data, name, contender, other, keys) {
  return quotient(netNs(data, name, contender, keys), netNs(data, name, other, keys))
}

function netNs(data, name, contender, keys) {
  const gross = grossNs(data, name, contender, keys)
  const strings = grossNs(data, name, 'strings', keys)
  return gross === undefined || strings === undefined ? undefined : gross - strings
}

function quotient(mine, theirs) {
  return mine === undefined || theirs === undefined ? undefined : mine / theirs
}
