import { fixed, table } from '../markdown.mjs'
import { abuses } from '../soak/abuse.mjs'
import { abuseService } from '../soak/abuse-service.mjs'

const MOST_GROWTH = 1.1
const usual = { ms: 60_000, idle: 10_000 }

/** Memory and open files of the service while clients abuse it. `npm run soak -- service` runs it. */
export const abuse = {
  name: 'abuse',
  title: 'The service under abuse',
  onlyIfNamed: true,

  measure: ({ full }) =>
    abuseService({ ...usual, ms: (full ? 10 : 1) * usual.ms, log: (line) => console.error(`  ${line}`) }),

  render({ rounds, answers, mostOpenFiles, first, last }) {
    const row = (title, of) => [title, of(first), of(last)]
    return [
      `For ${usual.ms / 1_000} s, in rounds: eight good clients ask \`/v1/check\`, and others abuse the service (${Object.keys(abuses).join(', ')}).`,
      `Then ${fixed(usual.idle)} connections are open and silent while the good clients go on. After each round the clients leave, and memory`,
      `after a collection and open files are read. There were ${fixed(rounds)} rounds, and ${fixed(answers)} good requests were all answered. At most`,
      `${fixed(mostOpenFiles)} files were open. Medians:`,
      '',
      table(
        ['', 'first half', 'second half'],
        [
          row('heap in MB', ({ heapUsed }) => fixed(heapUsed / 1e6, 1)),
          row('resident memory in MB', ({ rss }) => fixed(rss / 1e6)),
          row('open files', ({ openFiles }) => fixed(openFiles)),
        ],
      ),
    ].join('\n')
  },

  goals({ first, last, mostOpenFiles }) {
    return [
      {
        goal: `service under abuse: heap and resident memory grow by less than ${fixed(100 * (MOST_GROWTH - 1))} %`,
        measured: `${fixed(last.heapUsed / first.heapUsed, 2)}x and ${fixed(last.rss / first.rss, 2)}x`,
        reached: last.heapUsed < first.heapUsed * MOST_GROWTH && last.rss < first.rss * MOST_GROWTH,
      },
      {
        goal: `service under abuse: no file stays open, with ${fixed(usual.idle)} idle connections in between`,
        measured: `${fixed(first.openFiles)}, then ${fixed(last.openFiles)}; at most ${fixed(mostOpenFiles)}`,
        reached: last.openFiles <= first.openFiles && mostOpenFiles > usual.idle,
      },
    ]
  },
}
