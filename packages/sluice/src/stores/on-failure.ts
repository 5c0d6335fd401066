import { invalidValue } from '../errors.js'

/**
 * What a request is told when its store does not answer: `'open'` lets it go, `'closed'` denies it, `'local'` limits it
 * in this process.
 */
export type OnFailure = 'open' | 'closed' | 'local'

export function checkOnFailure(value: unknown): OnFailure {
  if (value === 'open' || value === 'closed' || value === 'local') return value
  throw invalidValue('onFailure', "'open', 'closed' or 'local'", value)
}
