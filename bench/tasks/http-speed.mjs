import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { load, openConnections } from '../http/load.mjs'

const server = fileURLToPath(new URL('../http/server.mjs', import.meta.url))

/**
 * `{ [contender]: { [round]: { perSecond, cpuUs } } }`. All servers run, and one at a time is asked: a round goes through
 * all of them, forwards and backwards in turn, so that a slow second of the machine is everybody's.
 */
export async function httpSpeed({ framework, contenders, connections, warmUpMs, roundMs, rounds }) {
  const running = {}
  for (const contender of contenders) running[contender] = await start(framework, contender, connections)
  const found = Object.fromEntries(contenders.map((contender) => [contender, {}]))
  for (const contender of contenders) await load(running[contender].sockets, warmUpMs)
  for (let round = 1; round <= rounds; round++) {
    const order = round % 2 === 0 ? contenders : [...contenders].reverse()
    for (const contender of order) {
      const { child, sockets } = running[contender]
      const before = await cpuUs(child)
      const startedMs = performance.now()
      const answers = await load(sockets, roundMs)
      const seconds = (performance.now() - startedMs) / 1_000
      found[contender][round] = { perSecond: answers / seconds, cpuUs: ((await cpuUs(child)) - before) / answers }
    }
  }
  for (const { child } of Object.values(running)) child.disconnect()
  return found
}

async function start(framework, contender, connections) {
  const child = fork(server, [framework, contender], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const [{ port }] = await once(child, 'message')
  return { child, sockets: await openConnections(port, connections) }
}

async function cpuUs(child) {
  child.send('cpu')
  const [{ cpuUs }] = await once(child, 'message')
  return cpuUs
}
