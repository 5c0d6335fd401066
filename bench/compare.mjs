// `node bench/compare.mjs OLD [NEW] [--only TEXT] [--processes N]`: compares two builds of the library, given as folders that hold a
// built `dist`, such as another clone's packages/sluice. NEW is this clone's unless given. In each process both builds
// take turns in random order, so that a slow second of the machine meets both. A ratio is the median over all turns of
// new / old, with the middle half of the turns in brackets. `--only` measures the cases whose title contains a text,
// `--processes` repeats each in this many processes (default 3). It prints, and keeps nothing.
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { memoryCases } from './compare/memory-cases.mjs'
import { redisBytesCases, redisCases } from './compare/redis-cases.mjs'
import { inChild } from './in-child.mjs'
import { fixed, table } from './markdown.mjs'
import { quartiles } from './statistics.mjs'
import { withRedis } from './with-redis.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string', default: '' }, processes: { type: 'string', default: '3' } },
})
const [old, current = fileURLToPath(new URL('../packages/sluice', import.meta.url))] = positionals
if (old === undefined) {
  console.error('usage: node bench/compare.mjs OLD [NEW] [--only TEXT] [--processes N]')
  process.exit(1)
}
const httpCases = {
  'HTTP, express': { framework: 'express' },
  'HTTP, fastify': { framework: 'fastify' },
  'HTTP, hono': { framework: 'hono' },
}
const builds = { old: resolve(old), new: resolve(current) }

compareMemory(wanted(memoryCases))
compareHttp(wanted(httpCases))
const redis = wanted(redisCases)
const bytes = wanted(redisBytesCases)
if (redis.length + bytes.length > 0)
  await withRedis((port, version) => {
    if (redis.length > 0) compareRedis(redis, port, version)
    if (bytes.length > 0) compareRedisBytes(bytes, port)
  })

function wanted(cases) {
  return Object.entries(cases).filter(([title]) => title.includes(values.only))
}

function compareMemory(cases) {
  const rows = cases.map(([title]) => {
    // A level that can never deny is meant to be there; the warning about it is not wanted.
    const turns = turnsOf('compareMemory', title, { flags: ['--no-warnings'] })
    const net = (turn, subject) => turn[subject] - (turn.strings ?? 0)
    return [
      title,
      ...['old', 'new'].map((build) => fixed(quartiles(turns.map((turn) => net(turn, build))).median)),
      ratios(turns, (turn) => net(turn, 'new') / net(turn, 'old')),
      turns[0].floor === undefined ? '–' : ratios(turns, (turn) => turn.new / turn.floor),
    ]
  })
  if (rows.length === 0) return
  console.log('\nMemory: CPU nanoseconds a call without its key string; new / floor includes the string in both.\n')
  console.log(table(['', 'old', 'new', 'new / old', 'new / floor'], rows))
}

function compareHttp(cases) {
  const rows = cases.map(([title, options]) => {
    const turns = turnsOf('compareHttp', title, options)
    const share = (build) => (turn) => turn[build].perSecond / turn.bare.perSecond
    return [
      title,
      fixed(quartiles(turns.map(({ bare }) => bare.perSecond)).median),
      ratios(turns, share('old')),
      ratios(turns, share('new')),
      ratios(turns, (turn) => turn.new.perSecond / turn.old.perSecond),
      ratios(turns, (turn) => turn.new.cpuUs / turn.old.cpuUs),
    ]
  })
  if (rows.length === 0) return
  console.log('\nHTTP: requests a second, bare and behind the limiter of each build, all in one server process.\n')
  console.log(table(['', 'bare', 'old / bare', 'new / bare', 'new / old', 'CPU, new / old'], rows))
}

function compareRedis(cases, port, version) {
  const rows = cases.flatMap(([title, { pairs }]) => {
    const turns = turnsOf('compareRedis', title, { port })
    const own = Object.keys(turns[0]).map((subject) => [subject, (turn, what) => turn[subject][what]])
    const compared = pairs.map(([one, other]) => [
      `${one} / ${other}`,
      (turn, what) => turn[one][what] / turn[other][what],
    ])
    return [
      ...own.map(([subject, of]) => row(title, subject, (what) => figure(turns, (turn) => of(turn, what)))),
      ...compared.map(([pair, of]) => row(title, pair, (what) => ratios(turns, (turn) => of(turn, what)))),
    ]
  })
  console.log(
    `\nRedis ${version}: decisions a second, median latency, and CPU microseconds a decision of the client and of`,
  )
  console.log('the server. Ratios of decisions a second are better when larger, all others when smaller.\n')
  console.log(table(['', '', 'decisions/s', 'latency', 'client CPU', 'Redis CPU'], rows))
}

function row(title, name, cell) {
  return [title, name, ...['perSecond', 'p50Us', 'clientUs', 'redisUs'].map(cell)]
}

function figure(turns, of) {
  const { median } = quartiles(turns.map(of))
  return fixed(median, median < 1_000 ? 1 : 0)
}

function compareRedisBytes(cases, port) {
  const rows = cases.map(([title]) => {
    const { old, new: current } = inChild('compareRedisBytes', { builds, title, port })
    return [title, fixed(old, 1), fixed(current, 1), `${fixed(current / old, 2)}x`]
  })
  console.log('\nRedis: bytes of `used_memory` a key, tables included, at 100,000 keys.\n')
  console.log(table(['', 'old', 'new', 'new / old'], rows))
}

/** All turns of a case, over several processes: luck with memory lasts for a process. */
function turnsOf(task, title, options) {
  console.error(`  ${title}`)
  return Array.from({ length: Number(values.processes) }, () => inChild(task, { builds, title, ...options })).flat()
}

function ratios(turns, ratioOf) {
  const { lower, median, upper } = quartiles(turns.map(ratioOf))
  return `${fixed(median, 2)}x (${fixed(lower, 2)}–${fixed(upper, 2)})`
}
