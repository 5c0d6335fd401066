import { counted } from '../http/frameworks.mjs'
import { inChild } from '../in-child.mjs'
import { fixed, table } from '../markdown.mjs'
import { spread } from '../statistics.mjs'
import { versions } from '../versions.mjs'

const frameworks = ['express', 'fastify', 'hono']
const packages = ['express', 'fastify', 'hono', '@hono/node-server']
const rivals = ['express-rate-limit', '@fastify/rate-limit', 'hono-rate-limiter']
const usual = { connections: 100, pipelined: 1, warmUpMs: 3_000, turnMs: 60, turns: 25 }
const ROUNDS = 9
const LEAST = { express: 0.95, fastify: 0.93 }
/** Points of the bare framework that counting may cost, by the CPU time of the server process. */
const MOST_POINTS = 2

/** The cost of a limit in front of a handler that does nothing. */
export const httpSpeed = {
  name: 'http-speed',
  title: 'HTTP: requests a second with and without a limit',

  measure({ full }) {
    const rounds = full ? 3 * ROUNDS : ROUNDS
    const found = frameworks.map((framework) => {
      const each = Array.from({ length: rounds }, (_, i) => {
        console.error(`  ${framework}, round ${i + 1} of ${rounds}`)
        return inChild('httpSpeed', { ...usual, framework })
      })
      return [framework, { own: summary(each), counting: costOfCounting(each) }]
    })
    const by = (what) => Object.fromEntries(found.map(([framework, { [what]: each }]) => [framework, each]))
    return { versions: versions([...packages, ...rivals]), rounds, found: by('own'), counting: by('counting') }
  },

  render({ versions, rounds, found, counting }) {
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
      ...(counting === undefined ? [] : countingLines(counting)),
      `Versions: ${Object.entries(versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(', ')}.`,
    ].join('\n')
  },

  goals({ found, counting = {} }) {
    const shares = Object.entries(LEAST).map(([framework, least]) => {
      const { share } = found[framework].sluice
      return {
        goal: `HTTP: at least ${percent(least)} of bare ${framework}, with all fields`,
        measured: `${percent(share.median)} (rounds ${percent(share.least)} to ${percent(share.greatest)})`,
        reached: share.median >= least,
      }
    })
    const costs = Object.entries(counting).map(([framework, { points }]) => ({
      goal: `HTTP: with onDecision and a recorder at most ${MOST_POINTS} points of bare ${framework} lower, by CPU time`,
      measured: spreadOf(points, inPoints),
      reached: points.median <= MOST_POINTS,
    }))
    return [...shares, ...costs]
  },
}

/**
 * What counting costs: the application that counts, compared with the same application without counting in the same turn.
 * `points` is by how many hundredths of the bare framework it is slower, if CPU time were all that bounds a server.
 */
function costOfCounting(rounds) {
  const each = (of) =>
    spread(
      rounds.map(({ bare, [counted.name]: own, [counted.plain]: plain }) => {
        const turns = Object.keys(own).map((turn) => of(own[turn], plain[turn], bare[turn]))
        return spread(turns).median
      }),
    )
  return {
    perSecond: each((own, plain) => own.perSecond / plain.perSecond),
    cpu: each((own, plain) => own.cpuUs / plain.cpuUs),
    points: each((own, plain, bare) => 100 * (bare.cpuUs / plain.cpuUs - bare.cpuUs / own.cpuUs)),
  }
}

function countingLines(counting) {
  const rows = Object.entries(counting).map(([framework, { perSecond, cpu, points }]) => [
    framework,
    spreadOf(perSecond, percent),
    spreadOf(cpu, percent),
    spreadOf(points, inPoints),
  ])
  return [
    `"${counted.name}" is the same limit with an \`onDecision\` that counts and a recorder of \`sluice/metrics\`. Compared with the plain`,
    'limit in the same turn, with the spread of the rounds in brackets; the last column is how much less of the bare framework',
    'remains, by CPU time, which is steadier than requests a second:',
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
