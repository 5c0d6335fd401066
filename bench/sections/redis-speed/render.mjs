import { fixed, table } from '../../markdown.mjs'
import { redisContenders } from '../../redis-contenders.mjs'

const columns = {
  perSecond: { title: 'decisions/s' },
  p50Us: { title: 'half within' },
  p99Us: { title: '99 % within' },
  redisUs: { title: 'Redis CPU', digits: 2 },
  clientUs: { title: 'client CPU', digits: 2 },
}

export function renderRedisSpeed({ versions, cases }) {
  return [
    'So many callers share one connection, and each asks again as soon as it has its answer, for one of 10,000 keys at',
    'random, all known beforehand. Times are microseconds: within which half and 99 % of the calls were answered, and',
    'what a decision took of the CPU of the server and of the asking process. Figures are the middle of several rounds,',
    'each of which goes through all contenders, in a process of their own, on the same server. The last column says how',
    'many times as many decisions as the contender sluice made, in the middle of the rounds.',
    ...Object.entries(cases).flatMap(([title, { found }]) => ['', `**${title}**`, '', caseTable(found)]),
    '',
    ...remarks(versions, cases),
  ].join('\n')
}

function caseTable(found) {
  const head = ['', ...Object.values(columns).map(({ title }) => title), "sluice's"]
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
    'Where nothing else is said, sluice has a token bucket, and all are on ioredis with the options that sluice',
    "recommends. The article's script is called by its hash with the arguments that it names; it and `INCR` are called",
    'on the bare client, and neither says more than a number. Auto-pipelining is an option of ioredis that is off unless',
    "turned on. rate-limit-redis's `increment` is awaited and its count compared with the limit. Windows are an hour.",
    'A round in which sluice decided without Redis, because an answer took longer than its 50 ms, is dropped for all and',
    `measured again; of the others none has such a limit, so that this favours sluice. Dropped here: ${dropped}.`,
  ]
}
