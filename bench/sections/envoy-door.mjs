import { inChild } from '../in-child.mjs'
import { fixed, table } from '../markdown.mjs'

const usual = { connections: 4, streams: 16, keys: 100_000, warmUpMs: 3_000, turnMs: 300, turns: 25 }
/** Of the bare server's CPU. */
const MOST_SHARE = 1.3

const ROWS = {
  bare: 'bare `node:http2`',
  none: 'the door, `--envoy-headers none`',
  draft: 'the door, `--envoy-headers draft`',
}

/** `sluice serve --grpc` beside a bare server of node:http2. */
export const envoyDoor = {
  name: 'envoy-door',
  title: 'The service: Envoy over gRPC',

  measure({ full }) {
    return inChild('envoyDoor', { ...usual, turns: (full ? 3 : 1) * usual.turns })
  },

  render(data) {
    const rows = Object.entries(ROWS).map(([name, title]) => {
      const { perSecond, cpuUs, cpuShare } = data[name]
      const share = `${fixed(cpuShare.median, 2)}x (${fixed(cpuShare.least, 2)} to ${fixed(cpuShare.greatest, 2)})`
      return [title, fixed(perSecond.median), fixed(cpuUs.median / 10, 2), name === 'bare' ? '' : share]
    })
    return [
      `${usual.connections} connections of ${usual.streams} streams over plain TCP call \`ShouldRateLimit\` with one descriptor of ${fixed(usual.keys)} keys, each stream again`,
      'as soon as it has its answer. The policy has one level, on the embedded store. The bare server reads the message and answers a',
      'constant, by the stream API of `node:http2`. Each server has its own process, and they take short turns against one client, which',
      'sends frames that were built before. CPU is seconds of the server process for 100,000 decisions, and its share compares the two in',
      'the same turn: the median, with the spread in brackets. The CPU of the client is not in it.',
      '',
      table(['', 'decisions/s', 'CPU s', 'of the bare CPU'], rows),
    ].join('\n')
  },

  goals({ none, draft }) {
    return Object.entries({ none, draft }).map(([form, { cpuShare }]) => ({
      goal: `Envoy over gRPC, \`--envoy-headers ${form}\`: at most ${MOST_SHARE}x the CPU of bare \`node:http2\``,
      measured: `${fixed(cpuShare.median, 2)}x`,
      reached: cpuShare.median <= MOST_SHARE,
    }))
  },
}
