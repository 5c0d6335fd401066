import { inChild } from '../in-child.mjs'
import { fixed, table } from '../markdown.mjs'
import { spread } from '../statistics.mjs'
import { versions } from '../versions.mjs'

const frameworks = ['express', 'fastify', 'hono']
const packages = ['express', 'fastify', 'hono', '@hono/node-server']
const rivals = ['express-rate-limit', '@fastify/rate-limit', 'hono-rate-limiter']
const usual = { connections: 100, pipelined: 1, warmUpMs: 3_000, turnMs: 60, turns: 25 }
const ROUNDS = 9
const counting = { connections: 100, pipelined: 1, warmUp: 20, turnMs: 60, turns: 30 }
const COUNTING_ROUNDS = 5
const LEAST = { express: 0.95, fastify: 0.93 }
/** Points of the bare framework that counting may cost, by the CPU time of the server process. */
const MOST_POINTS = 2

/** The cost of a limit in front of a handler that does nothing. */
export const httpSpeed = {
  name: 'http-speed',
  title: 'HTTP: requests a second with and without a limit',

  measure({ full }) {
    const rounds = full ? 3 * ROUNDS : ROUNDS
    const found = frameworks.map((framework) => [framework, summary(inRounds(rounds, 'httpSpeed', framework, usual))])
    const countingRounds = full ? 3 * COUNTING_ROUNDS : COUNTING_ROUNDS
    const costs = frameworks.map((framework) => [
      framework,
      costOfCounting(inRounds(countingRounds, 'httpCounting', framework, counting)),
    ])
    return {
      versions: versions([...packages, ...rivals]),
      rounds,
      found: Object.fromEntries(found),
      countingRounds,
      costs: Object.fromEntries(costs),
    }
  },

  render({ versions, rounds, found, countingRounds, costs }) {
    const rows = Object.entries(found).flatMap(([framework, own]) =>
      Object.entries(own).map(([contender, { perSecond, cpuUs, share, cpuShare }]) => [
        contender === 'bare' ? `**${framework}**` : `with ${contender}`,
        fixed(perSecond.median, 0),
        spreadOf(share, percent),
        fixed(cpuUs.median, 1),
        percent(cpuShare.median),
      ]),
    )
    return [
      `${usual.connections} clients, each with its own address and connection, request a route that answers hello, again as soon as they have`,
      'their answer. Every request is admitted, and every response has the fields of the quota. Each application runs in its own',
      `process, and the applications take short turns. This is done ${rounds} times with new processes, because one process may be a`,
      'tenth slower than another of the same program. A share compares an application with the bare framework in the same turn: the',
      'median over the turns of a round, then the median over the rounds, with the spread of the rounds in brackets. The clients',
      'send in step, so most responses carry a number that another response carried before, as with a small quota. CPU is',
      'microseconds of the server process a request. "Two constant fields" shows the least that fields can cost: the framework sets',
      'two that never change. "A sketch" shows the least that limiting can cost: a bucket for each client in a `Map`, and a field',
      'with the units that are left.',
      '',
      table(['', 'requests/s', 'of bare', 'CPU', 'of the bare CPU'], rows),
      '',
      ...(costs === undefined ? [] : countingLines(costs, countingRounds)),
      `Versions: ${Object.entries(versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(', ')}.`,
    ].join('\n')
  },

  goals({ found, costs = {} }) {
    const shares = Object.entries(LEAST).map(([framework, least]) => {
      const { share } = found[framework].sluice
      return {
        goal: `HTTP: at least ${percent(least)} of bare ${framework}, with all fields`,
        measured: `${percent(share.median)} (rounds ${percent(share.least)} to ${percent(share.greatest)})`,
        reached: share.median >= least,
      }
    })
    const counted = Object.entries(costs).map(([framework, { points }]) => ({
      goal: `HTTP: with onDecision and a recorder at most ${MOST_POINTS} points of bare ${framework} lower, by CPU time`,
      measured: spreadOf(points, inPoints),
      reached: points.median <= MOST_POINTS,
    }))
    return [...shares, ...counted]
  },
}

/** What a task finds, in as many new processes as there are rounds. */
function inRounds(rounds, task, framework, options) {
  return Array.from({ length: rounds }, (_, i) => {
    console.error(`  ${framework}, ${task}, round ${i + 1} of ${rounds}`)
    return inChild(task, { ...options, framework })
  })
}

/**
 * What counting costs: the application that counts, compared with the same application without counting in the same turn.
 * `points` is how many hundredths of the bare framework it costs, if CPU time is all that bounds a server.
 */
function costOfCounting(rounds) {
  const each = (of) => spread(rounds.map((turns) => spread(turns.map(of)).median))
  return {
    perSecond: each(({ counted, plain }) => counted.perSecond / plain.perSecond),
    cpu: each(({ counted, plain }) => counted.cpuUs / plain.cpuUs),
    points: each(({ bare, plain, counted }) => 100 * (bare.cpuUs / plain.cpuUs - bare.cpuUs / counted.cpuUs)),
  }
}

function countingLines(costs, rounds) {
  const rows = Object.entries(costs).map(([framework, { perSecond, cpu, points }]) => [
    framework,
    spreadOf(perSecond, percent),
    spreadOf(cpu, percent),
    spreadOf(points, inPoints),
  ])
  return [
    'What it costs to count: the same limit with an `onDecision` and a recorder of `sluice/metrics`, compared with the limit alone. Bare,',
    `limited and counting application take turns in one process, ${rounds} times with a new process. The figures are ratios of the same`,
    'turn: the median of a process, then the median over the processes, with their spread in brackets. The last column is how many',
    'hundredths of the bare framework counting takes, by CPU time, which is steadier than requests a second.',
    '',
    table(['', 'requests/s', 'CPU', 'points of bare'], rows),
    '',
  ]
}

function spreadOf({ median, least, greatest }, text) {
  return `${text(median)} (${text(least)} to ${text(greatest)})`
}

function inPoints(points) {
  return fixed(points, 1)
}

/** For each contender: the median of each round, then the spread of these medians. */
function summary(rounds) {
  const names = Object.keys(rounds[0])
  return Object.fromEntries(
    names.map((contender) => {
      const each = (of) =>
        spread(
          rounds.map((found) => {
            const turns = Object.keys(found[contender])
            return spread(turns.map((turn) => of(found[contender][turn], found.bare[turn]))).median
          }),
        )
      return [
        contender,
        {
          perSecond: each(({ perSecond }) => perSecond),
          cpuUs: each(({ cpuUs }) => cpuUs),
          share: each((own, theirs) => own.perSecond / theirs.perSecond),
          cpuShare: each((own, theirs) => own.cpuUs / theirs.cpuUs),
        },
      ]
    }),
  )
}

function percent(share) {
  return `${fixed(100 * share, 0)} %`
}
