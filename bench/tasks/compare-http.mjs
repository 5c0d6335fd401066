import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { takeTurns } from '../compare/take-turns.mjs'
import { load, openConnections } from '../http/load.mjs'

const server = fileURLToPath(new URL('../compare/http-server.mjs', import.meta.url))
const CLIENTS = { connections: 100, pipelined: 1 }
const TURN_MS = 100
/** The start of a turn does not count: the caches are full of another application's code and data. */
const RUN_IN_MS = 10
const TURNS = { rounds: 30, warmUp: 30 }

/** `[{ bare, old, new }, …]`, each `{ perSecond, cpuUs }`, one for each round of turns. */
export async function compareHttp({ builds, framework }) {
  const child = fork(server, [JSON.stringify({ framework, builds })], {
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [{ ports }] = await once(child, 'message')
  const applications = {}
  for (const [name, port] of Object.entries(ports)) applications[name] = await openConnections(port, CLIENTS)
  const turns = await takeTurns(applications, TURNS, async (opened) => {
    await load(opened, RUN_IN_MS)
    const before = await cpuUs(child)
    const startedMs = performance.now()
    const answers = await load(opened, TURN_MS)
    const seconds = (performance.now() - startedMs) / 1_000
    return { perSecond: answers / seconds, cpuUs: ((await cpuUs(child)) - before) / answers }
  })
  child.disconnect()
  return turns
}

async function cpuUs(child) {
  child.send('cpu')
  const [message] = await once(child, 'message')
  return message.cpuUs
}
