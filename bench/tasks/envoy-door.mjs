import { callFrames, openGrpc } from '../service/grpc-load.mjs'
import { startChild } from '../service/start-child.mjs'
import { spread } from '../statistics.mjs'

const PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'
/** One level, which denies no request. */
const policy = {
  version: 1,
  name: 'bench',
  levels: [{ name: 'user', key: ['user'], limit: { algorithm: 'token-bucket', capacity: 1e9, refill: '1000000/s' } }],
}
/** What the bare servers answer, in base64: as many bytes as the door answers without header fields. */
const ANSWER = Buffer.concat([Buffer.from([0x08, 1]), Buffer.alloc(34, 0x20)]).toString('base64')

/**
 * The door for Envoy beside a bare server of node:http2, each in its own process. They take short turns against this client, which is
 * a process of its own. CPU is that of the server's process.
 */
export async function envoyDoor({ connections, streams, keys, warmUpMs, turnMs, turns }) {
  const service = (headers) => ({ policy, options: { grpc: '127.0.0.1:0', 'envoy-headers': headers } })
  const servers = {
    bare: await startChild({ grpcAnswer: ANSWER }),
    none: await startChild(service('none')),
    draft: await startChild(service('draft')),
  }
  const calls = callFrames(PATH, messagesFor(keys))
  const subjects = []
  for (const [name, server] of Object.entries(servers)) {
    let last = 0
    // Not in order, so that the server's processor cannot guess which key comes next.
    const next = () => (last = (last + 7_919) % keys)
    subjects.push({ name, server, opened: await openGrpc(server.grpcPort, connections, calls, next), turns: [] })
  }
  for (const { opened } of subjects) await loadAll(opened, streams, warmUpMs)
  for (let turn = 0; turn < turns; turn++)
    for (const subject of subjects) subject.turns.push(await measureTurn(subject, streams, turnMs))
  for (const { opened } of subjects) for (const each of opened) each.close()
  await Promise.all(Object.values(servers).map((server) => server.stop()))
  const bare = subjects[0].turns
  return Object.fromEntries(subjects.map(({ name, turns: each }) => [name, summary(each, bare)]))
}

/** A request with one descriptor for each key. */
function messagesFor(keys) {
  return Array.from({ length: keys }, (_, i) => {
    const key = `user-${String(i).padStart(7, '0')}`
    const entry = Buffer.concat([field(0x0a, Buffer.from('user')), field(0x12, Buffer.from(key))])
    return Buffer.concat([field(0x0a, Buffer.from('bench')), field(0x12, field(0x0a, entry))])
  })
}

function field(tag, bytes) {
  return Buffer.concat([Buffer.from([tag, bytes.length]), bytes])
}

async function loadAll(opened, streams, ms) {
  const answers = await Promise.all(opened.map((each) => each.load(streams, ms)))
  return answers.reduce((sum, count) => sum + count, 0)
}

async function measureTurn({ server, opened }, streams, ms) {
  const before = await server.usage()
  const beganMs = performance.now()
  const answers = await loadAll(opened, streams, ms)
  const seconds = (performance.now() - beganMs) / 1_000
  const after = await server.usage()
  return { perSecond: answers / seconds, cpuUs: (after.cpuUs - before.cpuUs) / answers }
}

function summary(turns, bare) {
  return {
    perSecond: spread(turns.map(({ perSecond }) => perSecond)),
    cpuUs: spread(turns.map(({ cpuUs }) => cpuUs)),
    cpuShare: spread(turns.map(({ cpuUs }, i) => cpuUs / bare[i].cpuUs)),
  }
}
