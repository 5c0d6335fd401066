import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { load, openConnections } from '../http/load.mjs'

const server = fileURLToPath(new URL('../http/server.mjs', import.meta.url))

/**
 * `{ [contender]: { [turn]: { perSecond, cpuUs } } }`. All applications run in one process, and one at a time is asked, in
 * short turns, forwards and backwards: what luck the process has is everybody's, and so is a slow second of the machine.
 */
export async function httpSpeed({ framework, connections, pipelined, warmUpMs, turnMs, turns }) {
  const child = fork(server, [framework], {
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [{ ports }] = await once(child, 'message')
  const contenders = Object.keys(ports)
  const opened = {}
  for (const contender of contenders) {
    opened[contender] = await openConnections(ports[contender], { connections, pipelined })
  }
  for (let i = 0; i < 3; i++) for (const contender of contenders) await load(opened[contender], warmUpMs / 3)
  const found = Object.fromEntries(contenders.map((contender) => [contender, {}]))
  for (let turn = 1; turn <= turns; turn++) {
    const order = turn % 2 === 0 ? contenders : [...contenders].reverse()
    for (const contender of order) {
      const before = await cpuUs(child)
      const startedMs = performance.now()
      const answers = await load(opened[contender], turnMs)
      const seconds = (performance.now() - startedMs) / 1_000
      found[contender][turn] = { perSecond: answers / seconds, cpuUs: ((await cpuUs(child)) - before) / answers }
    }
  }
  child.disconnect()
  return found
}

async function cpuUs(child) {
  child.send('cpu')
  const [{ cpuUs }] = await once(child, 'message')
  return cpuUs
}
