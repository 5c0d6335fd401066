/** The middle of several measurements, with the least and the greatest of them. */
export function spread(measurements) {
  const sorted = [...measurements].sort((a, b) => a - b)
  return { median: sorted[Math.floor(sorted.length / 2)], least: sorted[0], greatest: sorted[sorted.length - 1] }
}

/** What so large a share of the measurements do not exceed. */
export function quantile(sorted, share) {
  return sorted[Math.floor((sorted.length - 1) * share)]
}
