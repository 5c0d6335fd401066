/**
 * Which limits have used a bucket since it was last whole, in one word: how long the slowest of them takes to fill, and for
 * a unit, as two float32. 0 is none.
 */
export type Users = number

export const NOBODY: Users = 0

const pair = new Float32Array(2)
const word = new Float64Array(pair.buffer)

/** A float32 may have been rounded down by less than this. */
const MORE = 1 + 2 ** -20
/** Nothing is remembered for longer: 35 years. */
const LONGEST_US = 2 ** 50

export function usersOf(fillUs: number, unitUs: number): Users {
  pair[0] = fillUs
  pair[1] = unitUs
  return word[0]
}

export function bothUsers(one: Users, other: Users): Users {
  word[0] = one
  const [fillUs, unitUs] = pair
  word[0] = other
  return usersOf(Math.max(fillUs, pair[0]), Math.max(unitUs, pair[1]))
}

/** After how long a bucket with so many units of debt is whole again for all of them. */
export function wholeAfterUs(users: Users, debt: number): number {
  word[0] = users
  return Math.min(LONGEST_US, Math.ceil((pair[0] + debt * pair[1]) * MORE))
}

/** After how long a queue of so many units has left, whichever of them is asked. */
export function leftAfterUs(users: Users, queue: number): number {
  word[0] = users
  return Math.min(LONGEST_US, Math.ceil(queue * pair[1] * MORE))
}
