import { InvalidValueError } from '../../errors.js'
import { arithmeticOf, type Limit } from '../../limits/index.js'
import { BucketWords } from './bucket-words.js'
import { UnlimitedWords } from './unlimited-words.js'
import { WindowWords } from './window-words.js'
import type { WordArithmetic } from './word-arithmetic.js'

/** What to use instead of a limit that does not fit in a word. */
const INSTEAD =
  'a store for threads keeps a state in 64 bits. Use a token bucket, a leaky bucket or a fixed window, or memoryStore() in each thread'

/**
 * How a limit counts in the words of a store that began at `startUs`, in epoch microseconds. Throws if its states do not fit
 * in a word. Sliding windows, logs and concurrency limits never do: they remember more than a time and a count.
 */
export function wordsOf(limit: Limit, startUs: number): WordArithmetic {
  const arithmetic = arithmeticOf(limit)
  const { algorithm } = arithmetic.limit
  if (algorithm === 'token-bucket' || algorithm === 'leaky-bucket') return new BucketWords(arithmetic, startUs)
  if (algorithm === 'unlimited') return new UnlimitedWords(arithmetic, startUs)
  if (algorithm === 'fixed-window') return new WindowWords(arithmetic, startUs)
  throw new InvalidValueError(`sharedStore cannot keep a limit of the algorithm '${algorithm}': ${INSTEAD}`, {
    option: 'limit',
  })
}
