import { contenders } from '../../contenders.mjs'
import { fixed, keysTitle, table, times } from '../../markdown.mjs'
import { grossNs, ratio } from './ratios.mjs'

export function renderSpeed(data) {
  return [
    'Nanoseconds a call, everything included: making a fresh key string, the call, and collecting the garbage of both.',
    'All keys are known beforehand and come in random order. Each figure is the middle of three rounds (one at 10 M',
    'keys), each in a process of its own. The ratio behind it says how many times as long as sluice the contender',
    'takes **without** making the string, whose cost is the first row: (row − first row) / (sluice − first row).',
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
      contender === 'strings' ? '–' : times(ratio(data, name, contender, 'sluice', keys)),
    ]),
  ])
  return [`**${title}**`, '', table(head, rows)]
}

function remarks({ versions }) {
  const named = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  return [
    `Versions: ${named.join(', ')}.`,
    "Each is used the way its documentation says is fastest: rate-limiter-flexible's `consume` is awaited, without a",
    "key prefix; express-rate-limit's `MemoryStore.increment` is awaited and its count compared with the limit;",
    'limiter has one `RateLimiter` a key in a `Map`, asked by `tryRemoveTokens`. The `Map` of buckets is that of the',
    'articles: `{ tokens, last }`, refilled when asked, by `Date.now()`. The clock is the one that sluice reads,',
    '`performance.timeOrigin + performance.now()`. What is missing at 10 M keys takes minutes to fill and is measured',
    'by `npm run bench -- --full`. Time in which the process waited for a CPU that others were using is left out.',
  ]
}
