import { redisContenders, rivals } from '../../redis-contenders.mjs'

/** More than any key takes, so that every call is admitted, and refilled so slowly that no key is forgotten. */
const ample = { capacity: 1_000, perHour: 60 }
/** One call exhausts this limit for an hour. */
const exhausted = { capacity: 1, perHour: 1 }

const usual = { name: 'admitted', limit: ample, keys: 10_000, ms: 500, rounds: 3, contenders: rivals }

const all = Object.keys(redisContenders)

/** The cases by title: how many callers ask at a time, and under which limit. Cases with goals have more rounds. */
export function plan({ full }) {
  const cases = {
    '1 caller': { ...usual, callers: 1, rounds: 5, ms: 1_000 },
    '16 callers': { ...usual, callers: 16, rounds: 5 },
    '64 callers': { ...usual, callers: 64 },
    '256 callers': { ...usual, callers: 256, rounds: 5, contenders: all },
    '256 callers, all denied': { ...usual, callers: 256, name: 'denied', limit: exhausted },
  }
  return full ? Object.fromEntries(Object.entries(cases).map(([title, each]) => [title, longer(each)])) : cases
}

function longer(each) {
  return { ...each, rounds: 3 * each.rounds, ms: 2 * each.ms }
}
