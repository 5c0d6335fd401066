import { contenders } from '../../contenders.mjs'
import { fixed, keysTitle, table, times } from '../../markdown.mjs'
import { grossNs, netRatio } from './ratios.mjs'

export function renderSpeed(data) {
  return [
    'Nanoseconds a call, everything included: a fresh key string, the call, and the garbage collection of both. Every key',
    'is known before the measurement, and keys come in random order. A figure is the median of three rounds (one round',
    'at 10 M keys), each in its own process. The ratio compares the contender with sluice **without** the key string,',
    'whose cost is the first row: (row − first row) / (sluice − first row).',
    '',
    'The floor is the least that any decision by key can cost. It takes the same strings in the same order, hashes them',
    "with sluice's own hash, reads sluice's clock, reads and writes one entry of a plain `Float64Array` (24 bytes an",
    'entry, 66 % of the entries in use, as in the memory store), and returns an object with the fields of a decision. It',
    'has no collisions, no arithmetic and no checks. Its goal compares whole rows: (sluice) / (floor), with the string and',
    'the clock in both. Denied calls are compared with the same floor.',
    '',
    ...caseTable(data, 'admitted', 'Admitted'),
    '',
    ...caseTable(data, 'denied', 'Denied: the key has nothing left'),
    '',
    ...remarks(data),
  ].join('\n')
}

function caseTable(data, name, title) {
  const sizes = Object.keys(data[name].sluice).map(Number)
  const head = ['', ...sizes.flatMap((keys) => [keysTitle(keys), 'ratio'])]
  const rows = Object.keys(contenders).map((contender) => [
    contenders[contender].title,
    ...sizes.flatMap((keys) => [
      fixed(grossNs(data, name, contender, keys)),
      contender === 'strings' ? '–' : times(netRatio(data, name, contender, 'sluice', keys)),
    ]),
  ])
  return [`**${title}**`, '', table(head, rows)]
}

function remarks({ versions }) {
  const named = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  return [
    `Versions: ${named.join(', ')}.`,
    'Each library is used in the way that its documentation calls fastest. `consume` of rate-limiter-flexible is awaited,',
    'without a key prefix. `MemoryStore.increment` of express-rate-limit is awaited, and its count is compared with the',
    'limit. limiter has one `RateLimiter` for each key in a `Map`, called by `tryRemoveTokens`. The `Map` of buckets is',
    "that of the articles: `{ tokens, last }`, refilled at each call, by `Date.now()`. The clock is sluice's own:",
    '`performance.timeOrigin + performance.now()`. Rows without a figure at 10 M keys take minutes to fill;',
    '`npm run bench -- --full` measures them. Time in which the process waited for a busy CPU is not counted.',
  ]
}
