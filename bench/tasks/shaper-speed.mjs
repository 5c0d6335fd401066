import { cpuWaitMs } from '../cpu-wait.mjs'
import { shaperContenders } from '../shaper-contenders.mjs'
import { spread } from '../statistics.mjs'

/** So high that no job ever waits. */
const NO_BOTTLENECK = 1e9

/**
 * Jobs that do nothing and arrive all at once. `perSecond` is at a rate so high that none waits: the median of several
 * turns, without the time in which this process waited for a busy CPU. `waitingPerSecond` and `waitingCpuUs` are at a rate
 * that makes jobs wait: jobs that leave a second, and CPU microseconds of a job.
 */
export async function shaperSpeed({ contender, jobs, warmUps, turns, perSecond, waitingJobs }) {
  const create = await shaperContenders[contender].load()
  // One for all turns, as in a program: when the last instance of a class is collected, V8 drops the code compiled for it.
  const ample = create(NO_BOTTLENECK)
  for (let i = 0; i < warmUps; i++) await runAll(ample, jobs)
  const found = []
  for (let turn = 0; turn < turns; turn++) {
    globalThis.gc()
    const waitedMs = cpuWaitMs()
    const { ms } = await runAll(ample, jobs)
    found.push((jobs / (ms - (cpuWaitMs() - waitedMs))) * 1_000)
  }
  await runAll(create(perSecond), waitingJobs)
  globalThis.gc()
  const { ms, cpuUs } = await runAll(create(perSecond), waitingJobs)
  return {
    perSecond: spread(found).median,
    waitingPerSecond: (waitingJobs / ms) * 1_000,
    waitingCpuUs: cpuUs / waitingJobs,
  }
}

async function runAll({ run }, jobs) {
  let done = 0
  const work = () => {
    done++
  }
  const cpu = process.cpuUsage()
  const startMs = performance.now()
  await Promise.all(Array.from({ length: jobs }, () => run(work)))
  const ms = performance.now() - startMs
  const { user, system } = process.cpuUsage(cpu)
  if (done !== jobs) throw new Error(`${done} of ${jobs} jobs were done`)
  return { ms, cpuUs: user + system }
}
