// What Envoy asks in the benchmarks of its door, the policy that answers, and how a server's CPU time is measured.
import { cpuWaitMs } from '../cpu-wait.mjs'
import { quantile } from '../statistics.mjs'
import { callFrames, loadAtRate, loadFully, openGrpc } from './grpc-load.mjs'

const PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'
/** A prime: keys come in no order, so that the server's processor cannot guess which is next. */
const STEP = 7_919

/** One level, which denies no request. */
export const policy = {
  version: 1,
  name: 'bench',
  levels: [{ name: 'user', key: ['user'], limit: { algorithm: 'token-bucket', capacity: 1e9, refill: '1000000/s' } }],
}

/** Calls with one descriptor, of so many keys. */
export function envoyCalls(keys) {
  return callFrames(PATH, messagesFor(keys))
}

/** Connections to the door of a server, whose calls name one key after the other. */
export function openDoor(server, connections, calls) {
  const keys = calls.first.length
  let last = 0
  return openGrpc(server.grpcPort, connections, calls, () => (last = (last + STEP) % keys))
}

/** Each stream calls again as soon as it has its answer, so that one read brings many calls. */
export async function burstTurn({ server, opened, store }, streams, ms) {
  const beganMs = performance.now()
  const { found, ...cpu } = await measureCpu(server, store, async () => {
    const answers = await loadFully(opened, streams, ms)
    return { answers, perSecond: (answers * 1_000) / (performance.now() - beganMs) }
  })
  return { perSecond: found.perSecond, ...cpu }
}

/** Calls leave one by one. Latencies are in milliseconds; `waitedMs` is how long this process waited for a CPU. */
export async function steadyTurn({ server, opened, store }, perSecond, ms) {
  const { found, ...cpu } = await measureCpu(server, store, async () => {
    const waitedMs = cpuWaitMs()
    const loaded = await loadAtRate(opened, perSecond, ms)
    return { ...loaded, answers: loaded.latencies.length, waitedMs: cpuWaitMs() - waitedMs }
  })
  const { latencies, waitedMs } = found
  const [p50, p99, p999] = [0.5, 0.99, 0.999].map((share) => quantile(latencies, share))
  return { perSecond: found.perSecond, ...cpu, p50, p99, p999, waitedMs }
}

/** CPU of the server, and of its store if it has one, in microseconds for each answer. */
async function measureCpu(server, store, load) {
  const before = await server.usage()
  const storeBefore = await store?.cpuUs()
  const found = await load()
  const after = await server.usage()
  const storeAfter = await store?.cpuUs()
  const cpuUs = (after.cpuUs - before.cpuUs) / found.answers
  return { found, cpuUs, ...(store && { storeCpuUs: (storeAfter - storeBefore) / found.answers }) }
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
