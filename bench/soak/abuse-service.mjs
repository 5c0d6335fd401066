import { loadFully, openConnections } from '../service/load.mjs'
import { policy, singleRequests } from '../service/requests.mjs'
import { startChild } from '../service/start-child.mjs'
import { quantile } from '../statistics.mjs'
import { abuses, withIdle } from './abuse.mjs'

/** Rounds at the start that do not count: compiled code and caches still grow. */
const SETTLED = 3

/**
 * Serves good clients while others abuse the service, round by round for `ms`, with `idle` silent connections in each
 * round. Compares memory and open files at the start and at the end. Rejects if a good client gets no answer.
 */
export async function abuseService({ ms, idle, log = () => {} }) {
  const service = await startChild({ policy }, ['--expose-gc'])
  const opened = await openConnections(service.port, 8)
  const next = singleRequests()
  const endMs = performance.now() + ms
  const rounds = []
  let answers = 0
  let mostOpenFiles = 0
  while (performance.now() < endMs || rounds.length < 2 * SETTLED) {
    const load = async () => {
      answers += await loadFully(opened, next, 500)
    }
    await Promise.all([load(), ...Object.values(abuses).map((abuse) => abuse(service.port))])
    await withIdle(service.port, idle, async () => {
      await load()
      mostOpenFiles = Math.max(mostOpenFiles, (await service.usage()).openFiles)
    })
    rounds.push(await calm(service))
    log(`round ${rounds.length}: ${JSON.stringify(rounds.at(-1))}`)
  }
  await service.stop()
  const counted = rounds.slice(SETTLED)
  const half = Math.ceil(counted.length / 2)
  return {
    rounds: rounds.length,
    answers,
    mostOpenFiles,
    first: medians(counted.slice(0, half)),
    last: medians(counted.slice(-half)),
  }
}

/** The usage once the server has closed what its clients have left. */
async function calm(service) {
  let usage = await service.usage()
  for (let i = 0; i < 100; i++) {
    const now = await service.usage()
    if (now.openFiles === usage.openFiles && i > 5) return now
    usage = now
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return usage
}

function medians(rounds) {
  const of = (name) =>
    quantile(
      rounds.map((each) => each[name]).sort((a, b) => a - b),
      0.5,
    )
  return { rss: of('rss'), heapUsed: of('heapUsed'), openFiles: of('openFiles') }
}
