/** Splits a float64 into two of half as many digits each (Veltkamp). */
const SPLITTER = 2 ** 27 + 1

/**
 * a · b / c, rounded up: the smallest whole q with q · c ≥ a · b. Exact for whole numbers below 2^53, even if the products
 * are larger: a float64 division is off by at most one, and comparing the exact products corrects that.
 */
export function ceilRatio(a: number, b: number, c: number): number {
  const product = a * b
  let q = Math.ceil(product / c)
  if (product <= Number.MAX_SAFE_INTEGER) return q
  while (!isAtMost(a, b, q, c)) q++
  while (q > 0 && isAtMost(a, b, q - 1, c)) q--
  return q
}

/** Is a · b ≤ c · d? Rounding keeps the order, so only products that round to the same number need their errors compared. */
function isAtMost(a: number, b: number, c: number, d: number): boolean {
  const [left, right] = [a * b, c * d]
  return left === right ? errorOf(a, b, left) <= errorOf(c, d, right) : left < right
}

/** The rounding error of a product: a · b = product + error (Dekker). */
function errorOf(a: number, b: number, product: number): number {
  const [aHigh, bHigh] = [highOf(a), highOf(b)]
  const [aLow, bLow] = [a - aHigh, b - bHigh]
  return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow)
}

function highOf(a: number): number {
  const scaled = a * SPLITTER
  return scaled - (scaled - a)
}
