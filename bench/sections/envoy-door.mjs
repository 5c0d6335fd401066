import { inChild } from '../in-child.mjs'
import { fixed, table } from '../markdown.mjs'

const usual = {
  connections: 4,
  streams: 16,
  keys: 100_000,
  warmUpMs: 3_000,
  turnMs: 300,
  turns: 25,
  steady: { perSecond: 15_000, ms: 1_000, turns: 5 },
}
/** Of the bare server's CPU. */
const MOST_SHARE = 1.3
/** Seconds for 100,000 decisions: in bursts, and at the steady rate. */
const MOST_BURST_S = 0.6
const MOST_STEADY_S = 4.7

const ROWS = {
  bare: 'bare `node:http2`',
  nodeNone: '`--http2 node --envoy-headers none`',
  nodeDraft: '`--http2 node --envoy-headers draft`',
  ownNone: '`--http2 own --envoy-headers none`',
  ownDraft: '`--http2 own --envoy-headers draft`',
}
const FORMS = [
  { node: 'nodeNone', own: 'ownNone' },
  { node: 'nodeDraft', own: 'ownDraft' },
]

/** `sluice serve --grpc` on both of its HTTP/2 servers, beside a bare server of node:http2. */
export const envoyDoor = {
  name: 'envoy-door',
  title: 'The service: Envoy over gRPC',

  measure({ full }) {
    return inChild('envoyDoor', { ...usual, turns: (full ? 3 : 1) * usual.turns })
  },

  render({ bursts, steady }) {
    const rows = Object.entries(ROWS).map(([name, title]) => {
      const { perSecond, cpuUs, cpuShare } = bursts[name]
      const share = `${fixed(cpuShare.median, 2)}x (${fixed(cpuShare.least, 2)} to ${fixed(cpuShare.greatest, 2)})`
      const each = [title, fixed(perSecond.median), seconds(cpuUs), name === 'bare' ? '' : share]
      return [...each, seconds(steady[name].cpuUs), fixed(steady[name].perSecond.median)]
    })
    return [
      `${usual.connections} connections of ${usual.streams} streams over plain TCP call \`ShouldRateLimit\` with one descriptor of ${fixed(usual.keys)} keys, each stream again`,
      'as soon as it has its answer, so that a read brings many calls. The policy has one level, on the embedded store. The bare server reads the',
      'message and answers a constant, by the stream API of `node:http2`. Each server has its own process, and they take short turns against one',
      'client, which sends frames that were built before. CPU is seconds of the server process for 100,000 decisions, and its share compares with',
      'the bare server in the same turn: the median, with the spread in brackets. The CPU of the client is not in it. Steady: calls leave one by',
      `one, ${fixed(usual.steady.perSecond)} a second, and the last column says how many came back a second.`,
      '',
      table(['', 'decisions/s', 'CPU s', 'of the bare CPU', 'CPU s, steady', 'answers/s, steady'], rows),
    ].join('\n')
  },

  goals({ bursts, steady }) {
    return FORMS.flatMap(({ node, own }) => [
      {
        goal: `Envoy over gRPC, ${ROWS[node]}: at most ${MOST_SHARE}x the CPU of bare \`node:http2\``,
        measured: `${fixed(bursts[node].cpuShare.median, 2)}x`,
        reached: bursts[node].cpuShare.median <= MOST_SHARE,
      },
      cpuGoal(own, 'in bursts', bursts[own], MOST_BURST_S),
      cpuGoal(own, `at a steady ${fixed(usual.steady.perSecond)}/s`, steady[own], MOST_STEADY_S),
    ])
  },
}

function cpuGoal(name, load, { cpuUs }, mostS) {
  return {
    goal: `Envoy over gRPC, ${ROWS[name]}: at most ${mostS} s of CPU for 100,000 decisions ${load}`,
    measured: `${seconds(cpuUs)} s`,
    reached: cpuUs.median / 10 <= mostS,
  }
}

/** Microseconds of one decision as seconds of 100,000. */
function seconds(cpuUs) {
  return fixed(cpuUs.median / 10, 2)
}
