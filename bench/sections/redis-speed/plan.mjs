import { redisContenders, rivals } from '../../redis-contenders.mjs'

/** More than any key is asked for, so that every call is admitted, and refilled so slowly that no key is forgotten. */
const ample = { capacity: 1_000, perHour: 60 }
/** A limit that one call exhausts, for an hour. */
const exhausted = { capacity: 1, perHour: 1 }

const usual = { name: 'admitted', limit: ample, keys: 10_000, ms: 500, rounds: 3, contenders: rivals }

const everybody = Object.keys(redisContenders)

/** How many ask at a time in each case, and what they are told, by title. What goals are about has more rounds. */
export function plan({ full }) {
  const cases = {
    '1 caller': { ...usual, callers: 1, rounds: 5, ms: 1_000 },
    '16 callers': { ...usual, callers: 16 },
    '64 callers': { ...usual, callers: 64 },
    '256 callers': { ...usual, callers: 256, rounds: 5, contenders: everybody },
    '256 callers, all denied': { ...usual, callers: 256, name: 'denied', limit: exhausted },
  }
  return full ? Object.fromEntries(Object.entries(cases).map(([title, each]) => [title, longer(each)])) : cases
}

function longer(each) {
  return { ...each, rounds: 3 * each.rounds, ms: 2 * each.ms }
}
