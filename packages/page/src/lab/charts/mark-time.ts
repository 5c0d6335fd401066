/** Times since the start, as an axis and a reader of the articles name them: `59.9 s`, `1:00`, `2:30 h`. */
export function markTime(seconds: number, spanSeconds: number): string {
  if (spanSeconds < 1) return `${round(seconds * 1_000)} ms`
  if (spanSeconds < 100) return `${round(seconds)} s`
  const whole = Math.floor(seconds)
  const rest = round(seconds - whole)
  if (spanSeconds < 7_200)
    return `${Math.floor(whole / 60)}:${padded(whole % 60)}${rest === 0 ? '' : String(rest).slice(1)}`
  return `${Math.floor(whole / 3_600)}:${padded(Math.floor(whole / 60) % 60)} h`
}

/** Distances between the marks of an axis that a person counts in: seconds, minutes, hours. */
export const TIME_MARKS: readonly number[] = [
  ...[1e-4, 1e-3, 1e-2, 1e-1].flatMap((power) => [1, 2, 5].map((each) => each * power)),
  ...[1, 2, 5, 10, 15, 30],
  ...[60, 120, 300, 600, 900, 1_800],
  ...[3_600, 7_200, 14_400, 21_600, 43_200, 86_400, 172_800, 604_800],
]

function round(value: number): number {
  return Number(value.toFixed(3))
}

function padded(value: number): string {
  return String(value).padStart(2, '0')
}
