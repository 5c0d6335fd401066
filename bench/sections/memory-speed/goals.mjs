import { fixed } from '../../markdown.mjs'
import { grossRatio, netRatio } from './ratios.mjs'

/** Each goal holds for admitted and for denied calls. */
export function speedGoals(data) {
  return [
    goal(
      'at 1 M keys at most 1.5x the floor, key string and clock included in both',
      both((name) => grossRatio(data, name, 'sluice', 'floor', 1_000_000)),
      (measured) => measured <= 1.5,
    ),
    goal(
      'at 1 M keys at least 4x as fast as the `Map`, without the key string',
      both((name) => netRatio(data, name, 'map', 'sluice', 1_000_000)),
      (measured) => measured >= 4,
    ),
    goal(
      'at 1 key at most 2.5x the cost of reading the clock, without the key string',
      both((name) => netRatio(data, name, 'sluice', 'clock', 1)),
      (measured) => measured <= 2.5,
    ),
  ]
}

function both(measure) {
  return { admitted: measure('admitted'), denied: measure('denied') }
}

function goal(text, { admitted, denied }, isReached) {
  return {
    goal: text,
    measured: `${fixed(admitted, 2)}x admitted, ${fixed(denied, 2)}x denied`,
    reached: isReached(admitted) && isReached(denied),
  }
}
