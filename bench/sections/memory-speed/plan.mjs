import { totalmem } from 'node:os'
import { contenders, deciders } from '../../contenders.mjs'

const all = Object.keys(contenders)

const usual = {
  capacity: 100,
  perHour: 1,
  rounds: 3,
  contenders: all,
  cases: ['admitted', 'denied'],
}

/** Every call takes from the one bucket: it holds enough for all of them and never becomes full in between. */
const oneKey = { ...usual, keys: 1, capacity: 100_000_000, perHour: 3_600_000 }

/** Most contenders need almost a minute to fill ten million keys, so only a few run unless `--full` is given. */
const tenMillion = {
  ...usual,
  keys: 10_000_000,
  rounds: 1,
  contenders: ['strings', 'clock', 'floor', 'sluice', 'map', 'rate-limiter-flexible'],
  cases: ['admitted'],
  flags: ['--max-old-space-size=12288'],
}

/** Ten million keys take up to 5 GB, which must not be swapped. */
const hasMemory = totalmem() > 12e9

/** The sizes to measure: how many keys, which limit, which contenders and cases. */
export function plan({ full }) {
  return [
    oneKey,
    { ...usual, keys: 100_000 },
    { ...usual, keys: 1_000_000 },
    ...(hasMemory ? [full ? { ...tenMillion, contenders: all, cases: usual.cases } : tenMillion] : []),
  ]
}

/** Contenders that decide nothing are measured in the admitted case only: the denied case would cost the same. */
export function takesPart(contender, name) {
  return name === 'admitted' || deciders.includes(contender)
}
