import { inChild } from '../in-child.mjs'
import { fixed, table, times } from '../markdown.mjs'
import { peers, shaperContenders } from '../shaper-contenders.mjs'
import { spread } from '../statistics.mjs'
import { versions } from '../versions.mjs'

const everybody = Object.keys(shaperContenders)
const ROUNDS = 5
/** More of what is over in seconds, and which a machine that holds a process up once spoils. */
const SPACING_ROUNDS = 9
const PER_SECOND = 10_000
const usual = { jobs: 50_000, warmUps: 12, turns: 15, perSecond: PER_SECOND, waitingJobs: PER_SECOND }
/** One that is slow gets as many as it can do in about a second. */
const speedOf = { bottleneck: { ...usual, jobs: 500, warmUps: 1, turns: 1, waitingJobs: 500 } }
const spacing = { perSecond: 100, jobs: 300 }
const WAITING_JOBS = 100_000

/** Work that waits for its turn, beside those who do the same. */
export const shaper = {
  name: 'shaper',
  title: 'Shaper: work that waits for its turn',

  measure({ full }) {
    const times = full ? 3 : 1
    const speeds = inRounds(times * ROUNDS, (contender) =>
      inChild('shaperSpeed', { contender, ...usual, ...speedOf[contender] }),
    )
    const spacings = inRounds(times * SPACING_ROUNDS, (contender) =>
      inChild('shaperSpacing', { contender, ...spacing }),
    )
    console.error('  bytes')
    const held = everybody.map((contender) => [contender, inChild('shaperBytes', { contender, jobs: WAITING_JOBS })])
    return {
      versions: versions(everybody),
      found: Object.fromEntries(everybody.map((each) => [each, { ...speeds[each], ...spacings[each] }])),
      held: Object.fromEntries(held),
    }
  },

  render({ versions, found, held }) {
    const rows = everybody.map((contender) => {
      const own = found[contender]
      return [
        shaperContenders[contender].title,
        fixed(own.perSecond.median),
        fixed(own.waitingPerSecond.median),
        fixed(own.waitingCpuUs.median, 1),
        fixed(held[contender].bytes),
        fixed(own.meanMs.median, 2),
        fixed(own.p99Ms.median, 2),
        fixed(own.driftMs.median, 2),
      ]
    })
    const head = ['', 'jobs/s, none waits', 'jobs/s at 10,000/s', 'CPU µs', 'bytes', 'mean ms', 'p99 ms', 'drift ms']
    return [
      'Jobs that do nothing and come all at once. First how many a second are done where the rate is so high that none waits;',
      `then at ${fixed(PER_SECOND)}/s, for about a second, how many a second leave and what a job takes of the CPU. Bytes are those of each of`,
      `${fixed(WAITING_JOBS)} jobs that wait, with the garbage collected. The last columns are how far ${fixed(spacing.jobs)} jobs at ${spacing.perSecond}/s leave from an`,
      'even schedule, one every 10 ms, that fits them best: in the mean, and 99 % of them; and by how much the last is later than',
      `it would be after the first. Figures are the middle of ${ROUNDS} rounds, and of ${SPACING_ROUNDS} in the last columns, each of which goes`,
      'through all contenders, in processes of their own.',
      '',
      table(head, rows),
      '',
      `Versions: ${Object.entries(versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(', ')}.`,
      'Each is set to space jobs as evenly as it can: p-queue and p-throttle to one job an interval (at 10,000/s, ten in the',
      'shortest, a millisecond), bottleneck by `minTime`. It has 500 jobs, which take it about a second, and the others 50,000.',
    ].join('\n')
  },

  goals({ found, held }) {
    return [
      aheadOfAll(found, 'jobs a second where none waits', ({ perSecond }) => perSecond.median, 'more'),
      aheadOfAll(held, 'bytes of a job that waits', ({ bytes }) => bytes, 'less'),
      aheadOfAll(found, 'mean distance from the schedule', ({ meanMs }) => meanMs.median, 'less'),
      aheadOfAll(found, 'p99 distance from the schedule', ({ p99Ms }) => p99Ms.median, 'less'),
    ]
  },
}

/** Of each contender the middles of so many rounds, each of which goes through all of them. */
function inRounds(rounds, measure) {
  const found = Object.fromEntries(everybody.map((contender) => [contender, []]))
  for (let round = 1; round <= rounds; round++) {
    console.error(`  round ${round} of ${rounds}`)
    for (const contender of everybody) found[contender].push(measure(contender))
  }
  return Object.fromEntries(Object.entries(found).map(([contender, each]) => [contender, middles(each)]))
}

function middles(rounds) {
  const names = Object.keys(rounds[0])
  return Object.fromEntries(names.map((name) => [name, spread(rounds.map((round) => round[name]))]))
}

function aheadOfAll(found, what, of, better) {
  const ratios = peers.map((peer) =>
    better === 'more' ? of(found.sluice) / of(found[peer]) : of(found[peer]) / of(found.sluice),
  )
  return {
    goal: `shaper: ${what}, ahead of ${peers.join(', ')}`,
    measured: ratios.map(times).join(', '),
    reached: ratios.every((ratio) => ratio > 1),
  }
}
