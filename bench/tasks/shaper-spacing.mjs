import { shaperContenders } from '../shaper-contenders.mjs'
import { quantile } from '../statistics.mjs'

/**
 * Distance, in milliseconds, between the departures of jobs that arrive all at once and an even schedule with one job every
 * 1 / rate. The schedule is the one that fits best, so that the figure does not depend on how late the first job was.
 * `driftMs` is how much later the last job leaves than the first job's departure says it should.
 */
export async function shaperSpacing({ contender, perSecond, jobs }) {
  const create = await shaperContenders[contender].load()
  // The first job is slow with every contender, and so is the first reading of the clock.
  performance.now()
  await Promise.all(Array.from({ length: 10 }, () => create(perSecond).run(() => {})))
  const { run } = create(perSecond)
  const left = []
  await Promise.all(Array.from({ length: jobs }, () => run(() => void left.push(performance.now()))))
  const deviations = left.map((ms, n) => ms - left[0] - (n * 1_000) / perSecond)
  const median = quantile(inOrder(deviations), 0.5)
  const sizes = inOrder(deviations.map((ms) => Math.abs(ms - median)))
  return {
    meanMs: sizes.reduce((total, size) => total + size, 0) / jobs,
    p99Ms: quantile(sizes, 0.99),
    driftMs: deviations[jobs - 1],
  }
}

function inOrder(values) {
  return values.toSorted((one, other) => one - other)
}
