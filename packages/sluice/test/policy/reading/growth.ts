/** A busy machine makes some tries slower and none faster, so the least of several tries counts. */
const MOST_TRIES = 6
const LINEAR = 8

/** How much longer `run` takes for four times the size: about 4 if it is linear, 16 if it is quadratic. */
export function growth(size: number, run: (size: number) => void): number {
  const best = (n: number) => {
    let ms = Infinity
    for (let round = 0; round < 5; round++) {
      const start = performance.now()
      run(n)
      ms = Math.min(ms, performance.now() - start)
    }
    return ms
  }
  let least = Infinity
  for (let i = 0; i < MOST_TRIES && least > LINEAR; i++) least = Math.min(least, best(4 * size) / best(size))
  return least
}

export const many = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))

/** The `when` of each of many levels: a list that no other level has, or nearly the same list as all other levels. */
export const LONG_CONDITIONS: Readonly<Record<string, (level: number) => object>> = {
  'texts of its own': (i) => ({ user: many(60, (j) => `${i}-${j}`) }),
  'the same texts but one': (i) => ({ user: [...many(60, (j) => `${j}`), `own-${i}`] }),
  'none of many texts': (i) => ({ user: { not: many(60, (j) => `${j < 59 ? 0 : i}-${j}`) } }),
  'paths of its own': (i) => ({ path: many(30, (j) => `/${i}/:id/${j}`) }),
  'the same paths but one': (i) => ({ path: [...many(30, (j) => `/:id/${j}`), `/own/${i}`] }),
  'networks of its own': (i) => ({ ip: many(30, (j) => `10.${i >> 3}.${j}.${(i & 7) * 32}/27`) }),
  'the same networks but one': (i) => ({ ip: [...many(30, (j) => `10.0.${j}.0/24`), `11.${i >> 8}.${i & 255}.0/24`] }),
}
