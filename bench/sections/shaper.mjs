import { inChild } from '../in-child.mjs'
import { fixed, table, times } from '../markdown.mjs'
import { peers, shaperContenders } from '../shaper-contenders.mjs'
import { spread } from '../statistics.mjs'
import { versions } from '../versions.mjs'

const all = Object.keys(shaperContenders)
const ROUNDS = 5
/** More rounds, because each takes seconds and a single pause of the machine spoils it. */
const SPACING_ROUNDS = 9
const PER_SECOND = 10_000
const usual = { jobs: 50_000, warmUps: 12, turns: 15, perSecond: PER_SECOND, waitingJobs: PER_SECOND }
/** A slow contender gets as many jobs as it can do in about a second. */
const speedOf = { bottleneck: { ...usual, jobs: 500, warmUps: 1, turns: 1, waitingJobs: 500 } }
const spacing = { perSecond: 100, jobs: 300 }
const WAITING_JOBS = 100_000

/** Jobs that wait for their turn, beside other libraries for it. */
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
    const held = all.map((contender) => [contender, inChild('shaperBytes', { contender, jobs: WAITING_JOBS })])
    return {
      versions: versions(all),
      found: Object.fromEntries(all.map((each) => [each, { ...speeds[each], ...spacings[each] }])),
      held: Object.fromEntries(held),
    }
  },

  render({ versions, found, held }) {
    const rows = all.map((contender) => {
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
      'Jobs that do nothing and arrive all at once. First: jobs done a second at a rate so high that none waits. Then at',
      `${fixed(PER_SECOND)}/s, for about a second: jobs that leave a second, and CPU time of a job. Bytes: memory of each of ${fixed(WAITING_JOBS)} waiting`,
      `jobs, with the garbage collected. The last columns compare ${fixed(spacing.jobs)} jobs at ${spacing.perSecond}/s with the even schedule, one every 10 ms,`,
      'that fits them best: the mean distance from it, the p99 distance, and how much later the last job leaves than the first',
      `job's departure says it should. A figure is the median of ${ROUNDS} rounds, in the last columns of ${SPACING_ROUNDS}. A round measures`,
      'every contender, each in its own process.',
      '',
      table(head, rows),
      '',
      `Versions: ${Object.entries(versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(', ')}.`,
      'Each is set to space jobs as evenly as it can: p-queue and p-throttle to one job an interval (at 10,000/s: ten jobs in',
      'the shortest interval, 1 ms), bottleneck by `minTime`. bottleneck gets 500 jobs, which take it about a second, the others',
      '50,000.',
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

/** For each contender the medians of this many rounds. Each round measures all contenders. */
function inRounds(rounds, measure) {
  const found = Object.fromEntries(all.map((contender) => [contender, []]))
  for (let round = 1; round <= rounds; round++) {
    console.error(`  round ${round} of ${rounds}`)
    for (const contender of all) found[contender].push(measure(contender))
  }
  return Object.fromEntries(Object.entries(found).map(([contender, each]) => [contender, medians(each)]))
}

function medians(rounds) {
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
