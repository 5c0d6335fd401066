import { inChild } from '../in-child.mjs'
import { fixed, table } from '../markdown.mjs'
import { policies } from '../policies.mjs'
import { spread } from '../statistics.mjs'
import { withRedis } from '../with-redis.mjs'

const PROCESSES = 3

/** Which policies are compared: [policy, base, most times the cost of the base]. */
const MEMORY_GOALS = [
  ['four', 'one', 2.5],
  ['thousand', 'four', 3],
  ['overridden', 'four', undefined],
]
const REDIS_GOALS = [['four', 'one', 1.3]]

/** The cost of a check in memory. */
export const policySpeed = {
  name: 'policy-speed',
  title: 'Policies in memory: a check, in turns',

  measure() {
    const names = Object.keys(policies)
    const measured = {}
    for (const name of ['admitted', 'denied']) {
      for (let round = 1; round <= PROCESSES; round++) {
        console.error(`  ${name}, process ${round} of ${PROCESSES}`)
        measured[`${name}, process ${round}`] = medians(inChild('policySpeed', { names, case: name }), MEMORY_GOALS)
      }
    }
    return measured
  },

  render: (measured) =>
    [
      'Nanoseconds a check, with 10,000 merchants and 10,000 addresses. In each process the policies take turns of 10,000',
      'checks; a ratio is the median of forty pairs of turns. Three of the four levels deny the denied requests.',
      '',
      tableOf(measured, Object.keys(policies), MEMORY_GOALS),
    ].join('\n'),

  goals: (measured) => goalsOf('memory, ', only(measured, 'admitted'), MEMORY_GOALS),
}

/** The latency of a single caller. */
export const policyLatency = {
  name: 'policy-latency',
  title: 'Policies on Redis: one caller, in turns',

  measure: () =>
    withRedis((port) => {
      const measured = {}
      for (let round = 1; round <= PROCESSES; round++) {
        console.error(`  process ${round} of ${PROCESSES}`)
        const found = inChild('policyLatency', { names: ['one', 'four'], port })
        measured[`process ${round}`] = medians(found, REDIS_GOALS)
      }
      return measured
    }),

  render: (measured) =>
    [
      'Median latency of one caller, in microseconds. In each process the two policies take turns of 250 checks; the ratio is',
      'the median of forty pairs of turns.',
      '',
      tableOf(measured, ['one', 'four'], REDIS_GOALS),
    ].join('\n'),

  goals: (measured) => goalsOf('Redis, ', Object.values(measured), REDIS_GOALS),
}

function medians(found, goals) {
  const median = (turns) => spread(Object.values(turns)).median
  const ratioOf = (name, base) =>
    spread(Object.keys(found[name]).map((turn) => found[name][turn] / found[base][turn])).median
  return {
    ...Object.fromEntries(Object.entries(found).map(([name, turns]) => [name, median(turns)])),
    ratios: Object.fromEntries(goals.map(([name, base]) => [`${name}/${base}`, ratioOf(name, base)])),
  }
}

function tableOf(measured, names, goals) {
  const head = [
    '',
    ...names.map((name) => policies[name].title),
    ...goals.map(([name, base]) => `${short(name)} / ${short(base)}`),
  ]
  const rows = Object.entries(measured).map(([round, { ratios, ...own }]) => [
    round,
    ...names.map((name) => fixed(own[name], 0)),
    ...goals.map(([name, base]) => `${fixed(ratios[`${name}/${base}`], 2)}x`),
  ])
  return table(head, rows)
}

function goalsOf(where, rounds, goals) {
  return goals
    .filter(([, , most]) => most !== undefined)
    .map(([name, base, most]) => {
      const { median, least, greatest } = spread(rounds.map(({ ratios }) => ratios[`${name}/${base}`]))
      return {
        goal: `policies in ${where}${policies[name].title}: at most ${most}x ${policies[base].title}`,
        measured: `${fixed(median, 2)}x (processes ${fixed(least, 2)}x to ${fixed(greatest, 2)}x)`,
        reached: median <= most,
      }
    })
}

function only(measured, start) {
  return Object.entries(measured).flatMap(([round, each]) => (round.startsWith(start) ? [each] : []))
}

function short(name) {
  return { one: '1', four: '4', thousand: '1,000', overridden: 'overridden' }[name]
}
