import { shaperContenders } from '../shaper-contenders.mjs'
import { quantile } from '../statistics.mjs'

/**
 * How far, in milliseconds, jobs that came all at once leave from an even schedule, one job every 1 / rate: the one that fits
 * them best, so that it does not hang on how late the first was. `driftMs` is by how much the last is later than the first.
 */
export async function shaperSpacing({ contender, perSecond, jobs }) {
  const create = await shaperContenders[contender].load()
  // The first job of all is slow, whoever runs it, and so is the first look at the time.
  performance.now()
  await Promise.all(Array.from({ length: 10 }, () => create(perSecond).run(() => {})))
  const { run } = create(perSecond)
  const left = []
  await Promise.all(Array.from({ length: jobs }, () => run(() => void left.push(performance.now()))))
  const deviations = left.map((ms, n) => ms - left[0] - (n * 1_000) / perSecond)
  const middle = quantile(inOrder(deviations), 0.5)
  const sizes = inOrder(deviations.map((ms) => Math.abs(ms - middle)))
  return {
    meanMs: sizes.reduce((total, size) => total + size, 0) / jobs,
    p99Ms: quantile(sizes, 0.99),
    driftMs: deviations[jobs - 1],
  }
}

function inOrder(values) {
  return values.toSorted((one, other) => one - other)
}
