import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { takeTurns } from '../compare/take-turns.mjs'
import { load, openConnections } from '../http/load.mjs'

const server = fileURLToPath(new URL('../http/counting-server.mjs', import.meta.url))
/** The start of a turn does not count: the caches are full of another application's code and data. */
const RUN_IN_MS = 10

/**
 * `[{ bare, plain, counted }, …]`, each `{ perSecond, cpuUs }`, one for each round of turns. All three applications are in one
 * process, because two processes of the same program differ by more than counting costs.
 */
export async function httpCounting({ framework, connections, pipelined, turnMs, turns, warmUp }) {
  const child = fork(server, [framework], {
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [{ ports }] = await once(child, 'message')
  const applications = {}
  for (const [name, port] of Object.entries(ports))
    applications[name] = { name, opened: await openConnections(port, { connections, pipelined }) }
  const found = await takeTurns(applications, { rounds: turns, warmUp }, async ({ name, opened }) => {
    const isCounting = name === 'counted'
    await cpuUs(child, isCounting)
    await load(opened, RUN_IN_MS)
    const before = await cpuUs(child, isCounting)
    const startedMs = performance.now()
    const answers = await load(opened, turnMs)
    const seconds = (performance.now() - startedMs) / 1_000
    return { perSecond: answers / seconds, cpuUs: ((await cpuUs(child, isCounting)) - before) / answers }
  })
  child.disconnect()
  return found
}

/** The CPU time that the server has used. From now on its recorder counts, or does not. */
async function cpuUs(child, isCounting) {
  child.send({ isCounting })
  const [message] = await once(child, 'message')
  return message.cpuUs
}
