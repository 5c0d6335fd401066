import { totalmem } from 'node:os'
import { contenders, deciders } from '../../contenders.mjs'

const everybody = Object.keys(contenders)

const usual = {
  capacity: 100,
  perHour: 1,
  rounds: 3,
  contenders: everybody,
  cases: ['admitted', 'denied'],
}

/** With a single key every call takes from the same bucket, which has to last and is never whole while they go on. */
const oneKey = { ...usual, keys: 1, capacity: 100_000_000, perHour: 3_600_000 }

/** Coming to know ten million keys takes most contenders the better part of a minute, so few do it unless asked. */
const tenMillion = {
  ...usual,
  keys: 10_000_000,
  rounds: 1,
  contenders: ['strings', 'clock', 'sluice', 'map', 'rate-limiter-flexible'],
  cases: ['admitted'],
  flags: ['--max-old-space-size=12288'],
}

/** Ten million keys take up to 5 GB, and a process that holds them should not have to swap. */
const hasMemory = totalmem() > 12e9

/** How many keys there are in each case, and what is done about it. */
export function plan({ full }) {
  return [
    oneKey,
    { ...usual, keys: 100_000 },
    { ...usual, keys: 1_000_000 },
    ...(hasMemory ? [full ? { ...tenMillion, contenders: everybody, cases: usual.cases } : tenMillion] : []),
  ]
}

/** Who takes part in a case: making strings and reading the clock are the same whatever is decided. */
export function takesPart(contender, name) {
  return name === 'admitted' || deciders.includes(contender)
}
