import { times } from '../../markdown.mjs'
import { ratio } from './ratios.mjs'

/** Goals hold for admitted and denied calls alike, on times without the making of the key string. */
export function speedGoals(data) {
  return [
    atLeast(data, 8, 'rate-limiter-flexible'),
    atLeast(data, 4, 'map', 'the `Map`'),
    goal(
      'at 1 key at most 2.5x the cost of reading the clock',
      both((name) => ratio(data, name, 'sluice', 'clock', 1)),
      (measured) => measured <= 2.5,
    ),
  ]
}

function atLeast(data, wanted, contender, title = contender) {
  return goal(
    `at 1 M keys at least ${wanted}x as fast as ${title}`,
    both((name) => ratio(data, name, contender, 'sluice', 1_000_000)),
    (measured) => measured >= wanted,
  )
}

function both(measure) {
  return { admitted: measure('admitted'), denied: measure('denied') }
}

function goal(text, measured, isReached) {
  return {
    goal: text,
    measured: `${times(measured.admitted)} admitted, ${times(measured.denied)} denied`,
    reached: Object.values(measured).every(isReached),
  }
}
