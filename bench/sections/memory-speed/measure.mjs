import { inChild } from '../../in-child.mjs'
import { keysTitle } from '../../markdown.mjs'
import { spread } from '../../statistics.mjs'
import { plan, takesPart } from './plan.mjs'

/** One call exhausts this limit for an hour. */
const exhausted = { capacity: 1, perHour: 1 }

/** Nanoseconds a call: `{ admitted: { [contender]: { [keys]: { median, least, greatest } } }, denied: … }`. */
export function measureSpeed({ full }) {
  const found = { admitted: {}, denied: {} }
  for (const size of plan({ full })) {
    for (const name of size.cases) {
      for (const [contender, rounds] of Object.entries(measureCase(size, name))) {
        found[name][contender] ??= {}
        found[name][contender][size.keys] = spread(rounds)
      }
    }
  }
  return found
}

/** Each round measures all contenders, so that a slow minute of the machine meets all of them. */
function measureCase(size, name) {
  const contenders = size.contenders.filter((contender) => takesPart(contender, name))
  const found = Object.fromEntries(contenders.map((contender) => [contender, []]))
  for (let round = 1; round <= size.rounds; round++) {
    console.error(`  ${keysTitle(size.keys)}, ${name}, round ${round} of ${size.rounds}`)
    for (const contender of contenders) found[contender].push(measureOne(size, name, contender))
  }
  return found
}

function measureOne({ keys, capacity, perHour, flags }, name, contender) {
  const limit = name === 'denied' ? exhausted : { capacity, perHour }
  const { nsPerCall } = inChild('speed', { contender, case: name, keys, limit, flags })
  return nsPerCall
}
