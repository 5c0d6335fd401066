import { type Explanation, type Mismatch, mismatchText } from 'sluice'
import type { KeyMask } from './key-mask.js'
import { OPEN_ATTRIBUTES } from './news-texts.js'

/** The value of an attribute for a reader without the admin token. */
export function maskedValue(attribute: string, value: string, keyMask: KeyMask): string {
  return OPEN_ATTRIBUTES.includes(attribute) ? value : keyMask.mask(value)
}

/**
 * An explanation for a reader without the admin token. The policy's conditions may name clients, so none is quoted that is
 * about another attribute than `method` and `path`. With a mask, keys and values of the request are masked too: the reader
 * did not type them.
 */
export function hideValues(explanation: Explanation, keyMask: KeyMask | undefined): Explanation {
  const { key, mismatches, because, noOverride } = explanation
  const hidden = mismatches?.map((each) => hideIn(each, keyMask))
  const text = hidden === undefined ? '' : mismatchText(hidden)
  return {
    ...explanation,
    ...(key !== undefined && keyMask !== undefined && { key: keyMask.mask(key) }),
    ...(hidden !== undefined && { mismatches: hidden }),
    ...(because !== undefined && { because: text }),
    ...(noOverride !== undefined && { noOverride: text }),
  }
}

function hideIn(mismatch: Mismatch, keyMask: KeyMask | undefined): Mismatch {
  const { attribute, value, asked } = mismatch
  if (OPEN_ATTRIBUTES.includes(attribute)) return mismatch
  return {
    ...mismatch,
    ...(value !== undefined && keyMask !== undefined && { value: keyMask.mask(value) }),
    // That an attribute must be absent names no client.
    asked: [...new Set(asked.map((each) => (each === 'null' ? each : 'another value')))],
  }
}
