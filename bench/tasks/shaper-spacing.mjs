import { shaperContenders } from '../shaper-contenders.mjs'
import { quantile } from '../statistics.mjs'

/**
 * How far, in milliseconds, jobs that came all at once leave from the ideal schedule: the first, and each next one 1 / rate
 * later. `driftMs` is by how much the last is late.
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
  const sizes = deviations.map(Math.abs).sort((one, other) => one - other)
  return {
    meanMs: sizes.reduce((total, size) => total + size, 0) / jobs,
    p99Ms: quantile(sizes, 0.99),
    driftMs: deviations[jobs - 1],
  }
}
