import { checkOptions } from '../../checks/check-options.js'
import { checkClock, systemClock } from '../../clock.js'
import { invalidType, invalidValue } from '../../errors.js'
import { DRAIN_HABITS } from '../../limits/leaky-bucket.js'
import { hostOf } from './host-of.js'
import { jitterOf } from './jitter-of.js'
import type { BudgetOptions } from './retry-budget.js'
import type { FetchCallOptions, FetchRateOptions } from './shaped-fetch-options.js'
import { SHAPER_OPTIONS, type ShapersByHost, shapersByHost } from './shapers-by-host.js'

/** Options that are right, and what follows from them. */
export interface CheckedOptions extends Required<Omit<FetchCallOptions, 'budget'>>, ShapersByHost {
  readonly budget: Required<BudgetOptions>
}

const CALL = ['keyOf', 'maxWaitMs', 'retries', 'budget', 'longestRetryAfterMs', 'fetch', 'random', 'clock']
const HABITS = new Map([...DRAIN_HABITS, ['retry', 'did you mean retries?']])
const FUNCTIONS = ['keyOf', 'fetch', 'random']

/** Checks all options, and makes the shapers. */
export function checkShapedFetchOptions(options: unknown): CheckedOptions {
  const given = checkOptions('shapedFetch', options, [...SHAPER_OPTIONS, 'shaper', ...CALL], HABITS)
  for (const name of FUNCTIONS) {
    if (given[name] !== undefined && typeof given[name] !== 'function')
      throw invalidType(name, 'a function', given[name])
  }
  const clock = checkClock(given.clock)
  const { keyOf, fetch, random, store } = given as Partial<FetchRateOptions>
  return {
    keyOf: keyOf ?? (({ url }) => hostOf(url)),
    maxWaitMs: checkMs('maxWaitMs', given.maxWaitMs, Infinity),
    retries: checkRetries(given.retries),
    budget: checkBudget(given.budget),
    longestRetryAfterMs: checkMs('longestRetryAfterMs', given.longestRetryAfterMs, 60_000),
    // Looked up with every call, for those who replace the global one later.
    fetch: fetch ?? ((...args) => globalThis.fetch(...args)),
    random: jitterOf(random ?? Math.random),
    ...shapersByHost(given),
    clock: clock ?? store?.clock ?? systemClock,
  }
}

function checkMs(option: string, value: unknown, otherwise: number): number {
  if (value === undefined) return otherwise
  if (typeof value !== 'number') throw invalidType(option, 'a number of milliseconds from 0', value)
  if (!(value >= 0)) throw invalidValue(option, 'a number of milliseconds from 0', value)
  return value
}

function checkRetries(value: unknown): number {
  if (value === undefined) return 3
  if (typeof value !== 'number') throw invalidType('retries', 'a whole number from 0', value)
  if (!Number.isSafeInteger(value) || value < 0) throw invalidValue('retries', 'a whole number from 0', value)
  return value
}

function checkBudget(value: unknown): Required<BudgetOptions> {
  const given = value === undefined ? {} : checkOptions('budget', value, ['ratio', 'least'])
  return { ratio: checkShare('budget.ratio', given.ratio, 0.1), least: checkShare('budget.least', given.least, 10) }
}

function checkShare(option: string, value: unknown, otherwise: number): number {
  if (value === undefined) return otherwise
  if (typeof value !== 'number') throw invalidType(option, 'a number from 0', value)
  if (!(Number.isFinite(value) && value >= 0)) throw invalidValue(option, 'a number from 0', value)
  return value
}
