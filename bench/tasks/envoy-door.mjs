import { burstTurn, envoyCalls, openDoor, policy, steadyTurn } from '../service/envoy-calls.mjs'
import { loadFully } from '../service/grpc-load.mjs'
import { startChild } from '../service/start-child.mjs'
import { spread } from '../statistics.mjs'

/** What the bare server answers, in base64: as many bytes as the door answers without header fields. */
const ANSWER = Buffer.concat([Buffer.from([0x08, 1]), Buffer.alloc(34, 0x20)]).toString('base64')

const door = (http2, headers) => ({ policy, options: { grpc: '127.0.0.1:0', http2, 'envoy-headers': headers } })
const SERVERS = {
  bare: { grpcAnswer: ANSWER },
  nodeNone: door('node', 'none'),
  nodeDraft: door('node', 'draft'),
  ownNone: door('own', 'none'),
  ownDraft: door('own', 'draft'),
}

/**
 * The door for Envoy on both of its HTTP/2 servers beside a bare server of node:http2, each in its own process. They take short turns
 * against this client, which is a process of its own. CPU is that of the server's process.
 */
export async function envoyDoor({ connections, streams, keys, warmUpMs, turnMs, turns, steady }) {
  const calls = envoyCalls(keys)
  const subjects = {}
  for (const [name, what] of Object.entries(SERVERS)) {
    const server = await startChild(what)
    subjects[name] = { server, opened: await openDoor(server, connections, calls) }
  }
  const names = Object.keys(SERVERS)
  for (const name of names) await loadFully(subjects[name].opened, streams, warmUpMs)
  const bursts = await inTurns(names, turns, (name) => burstTurn(subjects[name], streams, turnMs))
  const steadily = await inTurns(names, steady.turns, (name) => steadyTurn(subjects[name], steady.perSecond, steady.ms))
  for (const { opened, server } of Object.values(subjects)) {
    for (const each of opened) each.close()
    await server.stop()
  }
  return { bursts: summary(bursts), steady: summary(steadily) }
}

async function inTurns(names, turns, measure) {
  const found = Object.fromEntries(names.map((name) => [name, []]))
  for (let turn = 0; turn < turns; turn++) for (const name of names) found[name].push(await measure(name))
  return found
}

/** The spread of each figure, and of the share of the bare server's CPU in the same turn. */
function summary(found) {
  const each = Object.entries(found).map(([name, turns]) => {
    const shares = { cpuShare: spread(turns.map(({ cpuUs }, i) => cpuUs / found.bare[i].cpuUs)) }
    const figures = Object.keys(turns[0]).map((figure) => [figure, spread(turns.map((turn) => turn[figure]))])
    return [name, { ...Object.fromEntries(figures), ...shares }]
  })
  return Object.fromEntries(each)
}
