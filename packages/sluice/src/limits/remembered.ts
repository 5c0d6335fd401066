import type { Arithmetic } from './arithmetic.js'
import type { Limit } from './limit.js'

const arithmetics = new WeakMap<Limit, Arithmetic>()

/** Keeps the arithmetic that came with a limit, so that nobody has to parse the limit again. */
export function remember<A extends Arithmetic>(arithmetic: A): A {
  arithmetics.set(arithmetic.limit, arithmetic)
  return arithmetic
}

/** The arithmetic of a limit that was made here; nothing for an object that merely looks like one. */
export function remembered(limit: Limit): Arithmetic | undefined {
  return arithmetics.get(limit)
}
