/**
 * Which limits have used a bucket since it was last whole, in one word: how long the slowest of them takes to fill, and for
 * a unit, as two float32. A fill time below zero says that there are several. 0 is none.
 */
export type Users = number

export const NOBODY: Users = 0

const pair = new Float32Array(2)
const word = new Float64Array(pair.buffer)

/** What a float32 may be off by, and more. */
const ERROR = 2 ** -20
/** Nothing is remembered for longer: 35 years. */
const LONGEST_US = 2 ** 50

/** One limit as the only user. */
export function usersOf(fillUs: number, unitUs: number): Users {
  pair[0] = fillUs
  pair[1] = unitUs
  return word[0]
}

export function bothUsers(one: Users, other: Users): Users {
  if (one === other) return one
  word[0] = one
  const [fillUs, unitUs] = pair
  word[0] = other
  return usersOf(-Math.max(Math.abs(fillUs), Math.abs(pair[0])), Math.max(unitUs, pair[1]))
}

/** After how long a bucket with so many tokens is whole for all of them. Of several, none is known to need less. */
export function filledAfterUs(users: Users, tokens: number): number {
  word[0] = users
  const [fillUs, unitUs] = pair
  const counted = fillUs < 0 ? Math.min(0, tokens) : tokens
  const us = Math.abs(fillUs) - counted * unitUs
  return us <= 0 ? 0 : Math.min(LONGEST_US, Math.ceil(us + (Math.abs(fillUs) + Math.abs(counted) * unitUs) * ERROR))
}

/** After how long a queue of so many units has left, whichever of them is asked. */
export function leftAfterUs(users: Users, queue: number): number {
  word[0] = users
  return Math.min(LONGEST_US, Math.ceil(queue * pair[1] * (1 + ERROR)))
}
