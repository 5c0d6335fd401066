import { loadAtRate, loadFully, openConnections } from '../service/load.mjs'
import { batchRequests, policy, singleRequests } from '../service/requests.mjs'
import { startChild } from '../service/start-child.mjs'
import { quantile, spread } from '../statistics.mjs'

/** A share of the latency's time each, in turns with the bare server. */
const LATENCY_ROUNDS = 5

/**
 * The service on its embedded store beside a bare server and a second service that gets batches, each in its own process. They
 * take short turns, because a machine may be twice as fast a second later. Then the latency of the first two at half of the
 * greatest rate of the service.
 */
export async function serviceSpeed({ connections, warmUpMs, turnMs, turns, latencyMs }) {
  const service = await startChild({ policy })
  const answer = await answerOf(service.port)
  const bare = await startChild({ answer })
  const batches = await startChild({ policy })
  const single = singleRequests()
  const subjects = {
    bare: { server: bare, next: single, opened: await openConnections(bare.port, connections), turns: [] },
    check: { server: service, next: single, opened: await openConnections(service.port, connections), turns: [] },
    batch: {
      server: batches,
      next: batchRequests(),
      opened: await openConnections(batches.port, connections),
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
  const latency = { check: [], bare: [] }
  for (let round = 0; round < LATENCY_ROUNDS; round++)
    for (const [name, rounds] of Object.entries(latency)) {
      const load = { perSecond, ms: latencyMs / LATENCY_ROUNDS }
      const { latencies, errors } = await loadAtRate(subjects[name].opened, single, load)
      rounds.push({ errors, ...quantilesOf(latencies) })
    }
  await Promise.all([service.stop(), bare.stop(), batches.stop()])
  return {
    ...found,
    answerBytes: answer.length,
    latency: { perSecond, ...middleOf(latency.check) },
    bareLatency: { perSecond, ...middleOf(latency.bare) },
  }
}

/** The median of each quantile over the rounds, so that one pause of the machine does not decide; all errors. */
function middleOf(rounds) {
  const median = (name) => spread(rounds.map((each) => each[name])).median
  const errors = rounds.reduce((total, each) => total + each.errors, 0)
  return { errors, p50: median('p50'), p99: median('p99'), p999: median('p999') }
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
