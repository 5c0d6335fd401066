/** What a call costs without the making of its key string, in nanoseconds. */
function netNs(data, name, contender, keys) {
  const gross = grossNs(data, name, contender, keys)
  const strings = grossNs(data, name, 'strings', keys)
  return gross === undefined || strings === undefined ? undefined : gross - strings
}

/** What a call costs with all that it takes to make it. */
export function grossNs(data, name, contender, keys) {
  const measured = data[name][contender] ?? data.admitted[contender]
  return measured?.[keys]?.median
}

/** How many times as long as the other a contender takes, key strings aside. */
export function ratio(data, name, contender, other, keys) {
  const [mine, theirs] = [contender, other].map((each) => netNs(data, name, each, keys))
  return mine === undefined || theirs === undefined ? undefined : mine / theirs
}
