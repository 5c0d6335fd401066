/**
 * Lines with aligned columns, two spaces apart. Rows may differ in length. Columns of `numbers` are aligned to the right;
 * in the others the last cell of a row is not padded.
 */
export function textTable(rows: readonly (readonly string[])[], numbers: readonly number[] = []): readonly string[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [i, cell] of row.entries()) {
      if (i < row.length - 1 || numbers.includes(i)) widths[i] = Math.max(widths[i] ?? 0, cell.length)
    }
  }
  return rows.map((row) =>
    row
      .map((cell, i) => {
        if (numbers.includes(i)) return cell.padStart(widths[i])
        return i === row.length - 1 ? cell : cell.padEnd(widths[i])
      })
      .join('  '),
  )
}

/** A wait for people to read. Rounded up, so that a client that waits this long does not come too early. */
export function durationText(ms: number): string {
  if (ms === Infinity) return 'ever'
  if (ms < 1_000) return `${Math.ceil(ms)} ms`
  if (ms < 120_000) return `${Math.ceil(ms / 100) / 10} s`
  if (ms < 7_200_000) return `${Math.ceil(ms / 60_000)} min`
  return `${Math.ceil(ms / 3_600_000)} h`
}

/** How much of a quota is left: `5 of 20`, or `unlimited`. */
export function leftText(remaining: number, quota: number): string {
  if (quota < Infinity) return `${remaining} of ${quota}`
  return remaining === Infinity ? 'unlimited' : String(remaining)
}

/** `1 level`, `2 levels`. */
export function countText(count: number, what: string): string {
  return `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`
}
