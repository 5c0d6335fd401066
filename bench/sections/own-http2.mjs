import { startProgram } from '../http2/start-program.mjs'
import { fixed, table, times } from '../markdown.mjs'
import { spread } from '../statistics.mjs'

const CONTENDERS = {
  node: '`node:http2`, stream API',
  own: 'ours',
  promise: 'ours, answers by a promise',
  net: '`node:net`, answers without reading',
}
const server = new URL('../http2/serve.mjs', import.meta.url)
const client = new URL('../http2/load.mjs', import.meta.url)
const CALLS = 100_000
const ROUNDS = 7
const STEADY_ROUNDS = 3
const STEADY = { perSecond: 15_000, ms: 4_000 }
/** Of the CPU time of node:http2, and in seconds for 100,000 calls. */
const MOST_SHARE = 1 / 3
const MOST_CPU_S = 0.5

/** What a unary call of gRPC costs a server that answers a constant: our own HTTP/2 beside that of Node. */
export const ownHttp2 = {
  name: 'http2',
  title: 'HTTP/2: the CPU time of unary calls',

  async measure({ full }) {
    const servers = {}
    for (const name of Object.keys(CONTENDERS)) servers[name] = await startProgram(server, [name])
    const load = await startProgram(client)
    const turns = (rounds, ask) => inTurns(servers, load, full ? 3 * rounds : rounds, ask)
    // The first turns warm up.
    await turns(2, { calls: CALLS / 2 })
    const bursts = await turns(ROUNDS, { calls: CALLS })
    const steady = await turns(STEADY_ROUNDS, STEADY)
    for (const each of [load, ...Object.values(servers)]) await each.stop()
    return { bursts: summary(bursts, 'perSecond'), steady: summary(steady, 'p50Ms') }
  },

  render({ bursts, steady }) {
    const rows = Object.entries(CONTENDERS).map(([name, title]) => [
      title,
      fixed(bursts[name].perSecond.median),
      cpu(bursts[name]),
      times(bursts.node.cpuS.median / bursts[name].cpuS.median),
      cpu(steady[name]),
      times(steady.node.cpuS.median / steady[name].cpuS.median),
      fixed(steady[name].p50Ms.median, 2),
    ])
    return [
      'Each server answers a constant to a unary call with seven fields and 50 bytes, over h2c, in a process of its own. The client',
      'has 4 connections of 16 streams, each of which calls again as soon as it has its answer, so that a read brings many calls;',
      `then calls leave one by one, ${fixed(STEADY.perSecond)} a second. CPU is seconds of the server for 100,000 calls: the median`,
      'of the rounds, with the least and the greatest in brackets, and how many times less than `node:http2` it is. The servers take turns.',
      '',
      table(['', 'calls/s', 'CPU s', 'less', 'CPU s, steady', 'less', 'p50 ms, steady'], rows),
    ].join('\n')
  },

  goals: ({ bursts }) => [
    {
      goal: 'HTTP/2: at most a third of the CPU time of node:http2',
      measured: times(bursts.node.cpuS.median / bursts.own.cpuS.median),
      reached: bursts.own.cpuS.median <= MOST_SHARE * bursts.node.cpuS.median,
    },
    {
      goal: `HTTP/2: at most ${MOST_CPU_S} s of CPU time for 100,000 unary calls that come in bursts`,
      measured: `${fixed(bursts.own.cpuS.median, 2)} s`,
      reached: bursts.own.cpuS.median <= MOST_CPU_S,
    },
  ],
}

/** Loads every server in every round: `{ [name]: [{ cpuS, … }] }`, the CPU time for 100,000 calls. */
async function inTurns(servers, load, rounds, ask) {
  const found = Object.fromEntries(Object.keys(servers).map((name) => [name, []]))
  for (let round = 0; round < rounds; round++)
    for (const [name, server] of Object.entries(servers)) {
      const before = await server.ask('usage')
      const measured = await load.ask({ port: server.hello.port, ...ask })
      const after = await server.ask('usage')
      found[name].push({ ...measured, cpuS: ((after.cpuS - before.cpuS) * CALLS) / measured.calls })
    }
  return found
}

function summary(found, figure) {
  const each = Object.entries(found).map(([name, rounds]) => [
    name,
    { cpuS: spread(rounds.map(({ cpuS }) => cpuS)), [figure]: spread(rounds.map((round) => round[figure])) },
  ])
  return Object.fromEntries(each)
}

function cpu({ cpuS: { median, least, greatest } }) {
  return `${fixed(median, 2)} (${fixed(least, 2)} to ${fixed(greatest, 2)})`
}
