import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { frameworks } from '../http/frameworks.mjs'
import { load, openConnections } from '../http/load.mjs'

const RUN_IN_MS = 10
const PIECE_MS = 1_000
const server = fileURLToPath(new URL('../http/server.mjs', import.meta.url))

/**
 * `{ [contender]: { [turn]: { perSecond, cpuUs } } }`. Each application has its own process, as in production: two of one
 * framework in one process would slow each other down. The applications take many short turns, because a machine may be
 * twice as fast a second later. The order of turns is random but always the same, so that no application has two turns in
 * a row. Each turn begins with a run-in that does not count, because another application filled the caches before.
 */
export async function httpSpeed({ framework, connections, pipelined, warmUpMs, turnMs, turns }) {
  const contenders = []
  const names = Object.keys(frameworks[framework])
  for (const name of shuffled(names)) {
    const child = fork(server, [framework, name], {
      env: { ...process.env, NODE_ENV: 'production' },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const [{ port }] = await once(child, 'message')
    contenders.push({ name, child, opened: await openConnections(port, { connections, pipelined }) })
  }
  // In pieces, because a server closes a connection on which it has heard nothing for five seconds.
  for (let ms = 0; ms < warmUpMs; ms += PIECE_MS) for (const { opened } of contenders) await load(opened, PIECE_MS)
  const found = Object.fromEntries(names.map((name) => [name, {}]))
  for (let turn = 1; turn <= turns; turn++) {
    for (const { name, child, opened } of contenders) {
      await load(opened, RUN_IN_MS)
      const before = await cpuUs(child)
      const startedMs = performance.now()
      const answers = await load(opened, turnMs)
      const seconds = (performance.now() - startedMs) / 1_000
      found[name][turn] = { perSecond: answers / seconds, cpuUs: ((await cpuUs(child)) - before) / answers }
    }
  }
  for (const { child } of contenders) child.disconnect()
  return found
}

function shuffled(names) {
  return names
    .map((name) => ({ name, rank: Math.random() }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ name }) => name)
}

async function cpuUs(child) {
  child.send('cpu')
  const [{ cpuUs }] = await once(child, 'message')
  return cpuUs
}
