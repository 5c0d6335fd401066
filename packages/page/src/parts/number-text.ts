/** Numbers as a person reads them, with their units. Everything that the page shows goes through here. */

const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const ONE_DIGIT = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** `0`, `0.4`, `12.3`, `940`, `12,300`, `1.2 M`. */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return '∞'
  const size = Math.abs(value)
  if (size >= 999_950) return `${ONE_DIGIT.format(value / 1e6)} M`
  return size < 100 ? ONE_DIGIT.format(value) : WHOLE.format(value)
}

/** A rate without its unit: `0.4`, `23`, `1,234`. From ten on it is whole: a tenth more would change every second. */
export function rateNumberText(perSecond: number): string {
  return numberText(perSecond < 9.95 ? perSecond : Math.round(perSecond))
}

/** `0.4/s`, `23/s`, `1,234/s`. */
export function rateText(perSecond: number): string {
  return `${rateNumberText(perSecond)}/s`
}

/** `40 µs`, `1.2 ms`, `3.4 s`, `5 min`, `2.5 h`. */
export function durationText(ms: number): string {
  if (!Number.isFinite(ms)) return 'never'
  if (ms === 0) return '0 ms'
  if (ms < 0.9995) return `${WHOLE.format(ms * 1_000)} µs`
  if (ms < 999.5) return `${ms < 100 ? ONE_DIGIT.format(ms) : WHOLE.format(ms)} ms`
  if (ms < 120_000) return `${ONE_DIGIT.format(ms / 1_000)} s`
  return ms < 7_200_000 ? `${ONE_DIGIT.format(ms / 60_000)} min` : `${ONE_DIGIT.format(ms / 3_600_000)} h`
}

/** `0 %`, `0.4 %`, `37 %`. */
export function shareText(part: number, whole: number): string {
  if (whole === 0) return '–'
  const percent = (part / whole) * 100
  return `${percent < 10 ? ONE_DIGIT.format(percent) : WHOLE.format(percent)} %`
}

/** `12 KB`, `3.4 MB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1_000) return `${WHOLE.format(bytes)} B`
  return bytes < 1e6 ? `${ONE_DIGIT.format(bytes / 1e3)} KB` : `${ONE_DIGIT.format(bytes / 1e6)} MB`
}
