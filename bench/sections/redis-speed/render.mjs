import { fixed, table } from '../../markdown.mjs'
import { redisContenders } from '../../redis-contenders.mjs'

const columns = {
  perSecond: { title: 'decisions/s' },
  p50Us: { title: 'p50 µs' },
  p99Us: { title: 'p99 µs' },
  redisUs: { title: 'Redis CPU µs', digits: 2 },
  clientUs: { title: 'client CPU µs', digits: 2 },
}

export function renderRedisSpeed({ versions, cases }) {
  return [
    'All callers share one connection. Each asks again as soon as it has its answer, for a random one of 10,000 keys that',
    'are known beforehand. p50 and p99 are latencies of a call; CPU is the time that a decision takes of the server and of',
    'the calling process. A figure is the median of several rounds. A round measures every contender in its own process on',
    'the same server. The last column is the median of (decisions of sluice) / (decisions of the contender).',
    ...Object.entries(cases).flatMap(([title, { found }]) => ['', `**${title}**`, '', caseTable(found)]),
    '',
    ...remarks(versions, cases),
  ].join('\n')
}

function caseTable(found) {
  const head = ['', ...Object.values(columns).map(({ title }) => title), 'sluice / it']
  const rows = Object.entries(found).map(([contender, { own, ratio }]) => [
    redisContenders[contender].title,
    ...Object.entries(columns).map(([what, { digits }]) => fixed(own[what].median, digits)),
    `${fixed(ratio.perSecond.median, 2)}x`,
  ])
  return table(head, rows)
}

function remarks(versions, cases) {
  const dropped = Object.values(cases).reduce((sum, each) => sum + each.dropped, 0)
  const named = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  return [
    `Versions: ${named.join(', ')}.`,
    'Unless a row says otherwise, sluice uses a token bucket, and all use ioredis with the options that sluice recommends.',
    "The article's script is called by its hash with the arguments that it names. It and `INCR` are called on the bare",
    'client, and their answer is a single number. Auto-pipelining is an option of ioredis that is off by default.',
    '`increment` of rate-limit-redis is awaited and its count compared with the limit. Windows are one hour long.',
    'If an answer takes longer than 50 ms, sluice decides without Redis; such a round is dropped for all contenders and',
    `measured again. The others have no such deadline, so this favours sluice. Rounds dropped here: ${dropped}.`,
  ]
}
