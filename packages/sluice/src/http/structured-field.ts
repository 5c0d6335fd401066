/** The largest integer of a structured field. */
const LARGEST = 999_999_999_999_999

/** A number as an integer of a structured field, which knows neither fractions nor infinity. */
export function integerText(value: number): string {
  return value >= 1 ? String(Math.min(LARGEST, Math.trunc(value))) : '0'
}

/** Milliseconds as whole seconds: later rather than earlier. */
export function secondsText(ms: number): string {
  return integerText(Math.ceil(ms / 1_000))
}

/** Not plain ASCII that a string of a structured field may hold as it is. */
const UNUSUAL = /[^\x20-\x7e]|["\\]/

/** A text as a string of a structured field. What is not ASCII is percent-encoded. */
export function stringText(text: string): string {
  if (!UNUSUAL.test(text)) return `"${text}"`
  const ascii = text.toWellFormed().replace(/[^\x20-\x7e]+/g, (part) => encodeURIComponent(part))
  return `"${ascii.replace(/["\\]/g, '\\$&')}"`
}
