import type { Store } from '../stores/index.js'

/** What a limiter or a policy was made with. */
export interface MadeWith {
  /** Where it counts. Two limiters with one store and one name count the same units. */
  readonly store: Store
  /** Its limits and what happens when they are exceeded, as a text: two limiters of one name may differ in them. */
  readonly rules: string
  /** The attributes that are part of keys, if it is a policy. */
  readonly keyAttributes?: readonly string[]
}

const known = new WeakMap<object, MadeWith>()

/** Notes what a limiter or a policy was made with, and returns it. Its own interface does not tell. */
export function noteMadeWith<Made extends object>(made: Made, how: MadeWith): Made {
  known.set(made, how)
  return made
}

/** What a limiter or a policy was made with; `undefined` if the application made it in another way. */
export function madeWith(made: object): MadeWith | undefined {
  return known.get(made)
}
