import { checkUnits, checkValue } from '../checks/check-value.js'

/**
 * What a request is told when its store does not answer: `'open'` lets it go, `'closed'` denies it, `'local'` limits it
 * in this process.
 */
export type OnFailure = 'open' | 'closed' | 'local'

export function checkOnFailure(value: unknown): OnFailure {
  return checkValue('onFailure', value, ['open', 'closed', 'local'])
}

/** What a store says of `'local'` limits, checked, with the defaults of what it leaves out. */
export function checkLocalOptions(given: { readonly instances?: unknown; readonly maxLocalKeys?: unknown }) {
  return {
    instances: checkUnits('instances', given.instances ?? 1, 1_000_000),
    maxLocalKeys: checkUnits('maxLocalKeys', given.maxLocalKeys ?? 1_000_000, 2 ** 30),
  }
}
