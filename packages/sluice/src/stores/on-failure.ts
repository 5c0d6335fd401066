import { checkUnits, checkValue } from '../checks/check-value.js'

/**
 * How a request is answered if its store fails: `'open'` admits it, `'closed'` denies it, `'local'` limits it in this
 * process.
 */
export type OnFailure = 'open' | 'closed' | 'local'

export function checkOnFailure(value: unknown): OnFailure {
  return checkValue('onFailure', value, ['open', 'closed', 'local'])
}

/** Checks a store's options for `'local'` limits and fills in defaults. */
export function checkLocalOptions(given: { readonly instances?: unknown; readonly maxLocalKeys?: unknown }) {
  return {
    instances: checkUnits('instances', given.instances ?? 1, 1_000_000),
    maxLocalKeys: checkUnits('maxLocalKeys', given.maxLocalKeys ?? 1_000_000, 2 ** 30),
  }
}
