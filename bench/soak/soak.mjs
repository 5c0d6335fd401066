import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const api = fileURLToPath(new URL('./strict-api.mjs', import.meta.url))
const caller = fileURLToPath(new URL('./spiky-caller.mjs', import.meta.url))

/**
 * `callers` processes with a spiky load call an API through one shaper over Redis, for `ms`. The API bans them all if more
 * than `allowed` calls arrive in any second. Returns what the API counted, what the callers counted, and for how long there
 * was work.
 */
export async function soak({ redisPort, callers, perSecond, ms, allowed = 1.05 * perSecond, deadlineMs = 1_000 }) {
  const server = fork(api, [JSON.stringify({ mostInASecond: allowed })])
  const children = [server]
  try {
    const { port: apiPort } = await messageOf(server)
    const load = {
      // The queue holds the calls of two seconds, and the callers together want a little more.
      shaper: { name: 'soak', drain: `${perSecond}/s`, capacity: 2 * perSecond },
      mostInABurst: Math.ceil(perSecond / 2),
      mostAtATime: Math.ceil((2.3 * perSecond) / callers),
      longestLullMs: 1_000,
    }
    const fleet = Array.from({ length: callers }, () =>
      fork(caller, [JSON.stringify({ redisPort, apiPort, deadlineMs, ...load })]),
    )
    children.push(...fleet)
    await Promise.all(fleet.map(messageOf))
    for (const child of fleet) child.send('begin')
    await pause(ms)
    const reports = Promise.all(fleet.map(messageOf))
    for (const child of fleet) child.send('end')
    const counted = await reports
    const seen = messageOf(server)
    server.send('report')
    return summary(await seen, counted, perSecond)
  } finally {
    for (const child of children) child.kill('SIGKILL')
  }
}

async function messageOf(child) {
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`a process of the soak ended: ${code}`)
  })
  failed.catch(() => {})
  const [message] = await Promise.race([once(child, 'message'), failed])
  return message
}

function summary(seen, counted, perSecond) {
  const sum = (of) => counted.reduce((total, report) => total + of(report), 0)
  const busyMs = lengthOfUnion(counted.flatMap(({ busy }) => busy))
  return {
    ...seen,
    perSecond,
    calls: sum(({ calls }) => calls),
    fewestOfAProcess: Math.min(...counted.map(({ answered }) => answered)),
    mostOfAProcess: Math.max(...counted.map(({ answered }) => answered)),
    bursts: sum(({ bursts }) => bursts),
    queueFull: sum(({ queueFull }) => queueFull),
    failed: sum(({ failed }) => failed),
    degraded: sum(({ degraded }) => degraded),
    busyMs,
    share: seen.arrivals / (busyMs / 1_000) / perSecond,
  }
}

function lengthOfUnion(spans) {
  let length = 0
  let untilMs = Number.NEGATIVE_INFINITY
  for (const [fromMs, toMs] of spans.sort(([one], [other]) => one - other)) {
    length += Math.max(0, toMs - Math.max(fromMs, untilMs))
    untilMs = Math.max(untilMs, toMs)
  }
  return length
}
