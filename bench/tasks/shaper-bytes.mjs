import { setTimeout as pause } from 'node:timers/promises'
import { shaperContenders } from '../shaper-contenders.mjs'

const WARM_UP_JOBS = 1_000
/** So low that every job waits. */
const PER_SECOND = 1
const LOOK_MS = 100

/** Bytes that a contender holds for each waiting job. All jobs are one function, and the promises are not kept. */
export async function shaperBytes({ contender, jobs }) {
  const create = await shaperContenders[contender].load()
  const warmUp = create(1e9)
  await Promise.all(Array.from({ length: WARM_UP_JOBS }, () => warmUp.run(nothing)))
  const before = await held()
  const subject = create(PER_SECOND)
  for (let i = 0; i < jobs; i++) subject.run(nothing)
  return { bytes: ((await held()) - before) / jobs }
}

function nothing() {}

/** Bytes in use, read when no work is left in the background. */
async function held() {
  for (let lateMs = Infinity; lateMs > LOOK_MS / 2; ) {
    const startMs = performance.now()
    await pause(LOOK_MS)
    lateMs = performance.now() - startMs - LOOK_MS
  }
  for (let i = 0; i < 3; i++) globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
