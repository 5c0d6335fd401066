/** The median of several measurements, with the least and the greatest of them. */
export function spread(measurements) {
  const sorted = ascending(measurements)
  return { median: quantile(sorted, 0.5), least: sorted[0], greatest: sorted[sorted.length - 1] }
}

/** The median of several measurements, with the bounds of their middle half. */
export function quartiles(measurements) {
  const sorted = ascending(measurements)
  return { lower: quantile(sorted, 0.25), median: quantile(sorted, 0.5), upper: quantile(sorted, 0.75) }
}

/** The value that this share of the measurements does not exceed: 0.99 gives p99. */
export function quantile(sorted, share) {
  return sorted[Math.floor((sorted.length - 1) * share)]
}

function ascending(measurements) {
  return [...measurements].sort((a, b) => a - b)
}
