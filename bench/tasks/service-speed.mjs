import { loadAtRate, loadFully, openConnections } from '../service/load.mjs'
import { batchRequests, policy, singleRequests } from '../service/requests.mjs'
import { startChild } from '../service/start-child.mjs'
import { quantile, spread } from '../statistics.mjs'

/**
 * The service on its embedded store beside a bare server, each in its own process. They take short turns, because a machine
 * may be twice as fast a second later. Then the latency of the service at half of its greatest rate.
 */
export async function serviceSpeed({ connections, warmUpMs, turnMs, turns, latencyMs }) {
  const service = await startChild({ policy })
  const answer = await answerOf(service.port)
  const bare = await startChild({ answer })
  const single = singleRequests()
  const subjects = {
    bare: { server: bare, next: single, opened: await openConnections(bare.port, connections), turns: [] },
    check: { server: service, next: single, opened: await openConnections(service.port, connections), turns: [] },
    batch: {
      server: service,
      next: batchRequests(),
      opened: await openConnections(service.port, connections),
      turns: [],
    },
  }
  for (const { opened, next } of Object.values(subjects)) await loadFully(opened, next, warmUpMs)
  for (let turn = 0; turn < turns; turn++)
    for (const subject of Object.values(subjects)) subject.turns.push(await measureTurn(subject, turnMs))
  const found = Object.fromEntries(
    Object.entries(subjects).map(([name, { turns: each }]) => [name, summary(each, subjects.bare.turns)]),
  )
  const perSecond = Math.round(found.check.perSecond.median / 2)
  const { latencies, errors } = await loadAtRate(subjects.check.opened, single, { perSecond, ms: latencyMs })
  await Promise.all([service.stop(), bare.stop()])
  return { ...found, answerBytes: answer.length, latency: { perSecond, errors, ...quantilesOf(latencies) } }
}

/** p50, p99 and p99.9 in milliseconds. */
export function quantilesOf(latencies) {
  return { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99), p999: quantile(latencies, 0.999) }
}

async function measureTurn({ server, next, opened }, ms) {
  const before = await server.usage()
  const beganMs = performance.now()
  const answers = await loadFully(opened, next, ms)
  const seconds = (performance.now() - beganMs) / 1_000
  const after = await server.usage()
  return { perSecond: answers / seconds, cpuUs: (after.cpuUs - before.cpuUs) / answers }
}

function summary(turns, bare) {
  return {
    perSecond: spread(turns.map(({ perSecond }) => perSecond)),
    cpuUs: spread(turns.map(({ cpuUs }) => cpuUs)),
    share: spread(turns.map(({ perSecond }, i) => perSecond / bare[i].perSecond)),
    cpuShare: spread(turns.map(({ cpuUs }, i) => cpuUs / bare[i].cpuUs)),
  }
}

async function answerOf(port) {
  const body = JSON.stringify({
    attributes: { method: 'POST', path: '/v1/charges', merchant: 'acct_1', ip: '10.0.0.1' },
  })
  const response = await fetch(`http://127.0.0.1:${port}/v1/check`, { method: 'POST', body })
  return response.text()
}
