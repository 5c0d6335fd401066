/** Splits a float64 into two of half as many digits each (Veltkamp). */
const SPLITTER = 2 ** 27 + 1

/**
 * The smallest whole number q with q · c ≥ a · b: a · b / c, rounded up. Exact for whole numbers below 2^53, also where the
 * products are not: a float64 division is off by one at most, and comparing the products in full tells.
 */
export function ceilRatio(a: number, b: number, c: number): number {
  const product = a * b
  let q = Math.ceil(product / c)
  if (product <= Number.MAX_SAFE_INTEGER) return q
  while (!isAtMost(a, b, q, c)) q++
  while (q > 0 && isAtMost(a, b, q - 1, c)) q--
  return q
}

/** Is a · b ≤ c · d? Rounding keeps an order, so only equal products need their rounding errors compared. */
function isAtMost(a: number, b: number, c: number, d: number): boolean {
  const [left, right] = [a * b, c * d]
  return left === right ? errorOf(a, b, left) <= errorOf(c, d, right) : left < right
}

/** What rounding has taken from a product: a · b = product + error (Dekker). */
function errorOf(a: number, b: number, product: number): number {
  const [aHigh, bHigh] = [highOf(a), highOf(b)]
  const [aLow, bLow] = [a - aHigh, b - bHigh]
  return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow)
}

function highOf(a: number): number {
  const scaled = a * SPLITTER
  return scaled - (scaled - a)
}
