import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Limit } from '../../src/limits/index.js'
import { isLong } from '../property/arbitraries.js'
import { onServer } from './faults-clients.js'

const WORKER = fileURLToPath(new URL('./fleet-worker.mjs', import.meta.url))
const PROCESSES = 4
const LASTS_US = isLong ? 5_000_000 : 3_000_000

export interface NamedLimit {
  readonly name: string
  readonly limit: Limit
}

interface Report {
  readonly admitted: number
  readonly admittedInTime: number
  readonly asked: number
  readonly firstTakenUs: number
  readonly degraded: Readonly<Record<string, number>>
}

/** Four processes of 64 callers each ask for one key, for three to five seconds, all at once. */
export async function runFleet(port: number, limits: readonly NamedLimit[]) {
  const children = Array.from({ length: PROCESSES }, () => fork(WORKER, [JSON.stringify({ port, limits })]))
  try {
    await Promise.all(children.map((child) => message<string>(child)))
    const reports = Promise.all(children.map((child) => message<Report>(child)))
    const endUs = (await redisUs(port)) + LASTS_US
    for (const child of children) child.send({ endUs })
    return summed(await reports, endUs)
  } finally {
    for (const child of children) child.kill('SIGKILL')
  }
}

async function message<T>(child: ChildProcess): Promise<T> {
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`a process of the fleet ended: ${code}`)
  })
  failed.catch(() => {})
  const [said] = await Promise.race([once(child, 'message'), failed])
  return said
}

async function redisUs(port: number): Promise<number> {
  const [seconds, microseconds] = await onServer(port, (redis) => redis.time())
  return Number(seconds) * 1e6 + Number(microseconds)
}

function summed(reports: readonly Report[], endUs: number) {
  const sum = (of: (report: Report) => number) => reports.reduce((total, report) => total + of(report), 0)
  const firstTakenUs = Math.min(...reports.map((report) => report.firstTakenUs))
  return {
    admitted: sum(({ admitted }) => admitted),
    /** Until the end; a few callers hear of it only when they have asked once more. */
    admittedInTime: sum(({ admittedInTime }) => admittedInTime),
    asked: sum(({ asked }) => asked),
    degraded: sum(({ degraded }) => Object.values(degraded).reduce((total, times) => total + times, 0)),
    firstTakenUs,
    /** From the first that was admitted to the end, by Redis's clock. */
    seconds: (endUs - firstTakenUs) / 1e6,
  }
}
