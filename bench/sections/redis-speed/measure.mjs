import { inChild } from '../../in-child.mjs'
import { spread } from '../../statistics.mjs'
import { plan } from './plan.mjs'

const ATTEMPTS = 3

/**
 * `{ [case]: { dropped, found: { [contender]: { own, ratio } } } }`. `dropped` is the number of dropped rounds, `own` the
 * contender's figures, and `ratio` sluice's figures divided by the contender's in the same round. Both are
 * `{ perSecond, p50Us, p99Us, redisUs, clientUs }`, each `{ median, least, greatest }`.
 */
export function measureRedisSpeed({ full, port }) {
  const cases = Object.entries(plan({ full }))
  return Object.fromEntries(cases.map(([title, each]) => [title, measureCase(title, each, port)]))
}

function measureCase(title, { contenders, rounds, ...options }, port) {
  const kept = []
  let dropped = 0
  for (let round = 1; round <= rounds; round++) {
    console.error(`  ${title}, round ${round} of ${rounds}`)
    const measured = measureRound(contenders, options, port)
    kept.push(measured.round)
    dropped += measured.dropped
  }
  const found = contenders.map((contender) => {
    const own = kept.map((round) => round[contender])
    return [contender, { own: spreads(own), ratio: spreads(own.map((each, i) => quotients(kept[i].sluice, each))) }]
  })
  return { dropped, found: Object.fromEntries(found) }
}

/**
 * A round measures all contenders, so that a slow minute of the machine meets all of them. If sluice waited for Redis
 * longer than its default deadline and decided without it, the round is dropped for all contenders and counted. Only
 * sluice can drop a round, which flatters it: RESULTS.md says so.
 */
function measureRound(contenders, { name, ...options }, port) {
  for (let dropped = 0; ; dropped++) {
    try {
      const measure = (contender) => inChild('redisSpeed', { contender, case: name, port, ...options })
      return { dropped, round: Object.fromEntries(contenders.map((contender) => [contender, measure(contender)])) }
    } catch (error) {
      if (dropped + 1 === ATTEMPTS) throw error
      console.error('  once more')
    }
  }
}

function quotients(ones, others) {
  return Object.fromEntries(Object.entries(ones).map(([what, one]) => [what, one / others[what]]))
}

function spreads(measurements) {
  return Object.fromEntries(
    Object.keys(measurements[0]).map((what) => [what, spread(measurements.map((each) => each[what]))]),
  )
}
