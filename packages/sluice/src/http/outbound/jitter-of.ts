/** Numbers from 0 to 1, whatever `random` gives: by then there is a response, and that must not be lost to a wrong number. */
export function jitterOf(random: () => unknown): () => number {
  return () => {
    try {
      const number = random()
      if (typeof number === 'number' && number >= 0 && number <= 1) return number
    } catch {
      // What it gives is as wrong as any other that is no number.
    }
    // The longest wait there may be is the most polite.
    return 1
  }
}
