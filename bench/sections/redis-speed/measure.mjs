import { inChild } from '../../in-child.mjs'
import { spread } from '../../statistics.mjs'
import { plan } from './plan.mjs'

const ATTEMPTS = 3

/**
 * `{ [case]: { dropped, found: { [contender]: { own, ratio } } } }`: how many rounds were dropped, what was measured, and
 * what sluice's measurement of the same round is of it; both `{ perSecond, p50Us, p99Us, redisUs, clientUs }`, each
 * `{ median, least, greatest }`.
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
 * A round goes through all contenders in turn, so that a slow minute of the machine is everybody's. One in which sluice
 * waited for Redis longer than it does unless told otherwise, and decided without it, is dropped for all and told of:
 * only sluice can drop a round, which flatters it.
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
