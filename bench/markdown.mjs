// Numbers and tables as text. A number that was not measured is a dash.

/** A table whose first column is aligned left and all others right, padded so that its source is readable too. */
export function table(head, rows) {
  const widths = head.map((cell, column) => Math.max(3, cell.length, ...rows.map((row) => row[column].length)))
  const line = (cells) => `| ${cells.map((cell, column) => pad(cell, widths[column], column)).join(' | ')} |`
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [line(head), line(rule), ...rows.map(line)].join('\n')
}

function pad(cell, width, column) {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width)
}

export function fixed(number, digits = 0) {
  if (number === undefined) return '–'
  return number.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

export function times(ratio) {
  return ratio === undefined ? '–' : `${fixed(ratio, ratio < 9.95 ? 1 : 0)}x`
}

/** `1 key`, `100 k keys`, `10 M keys`. */
export function keysTitle(keys) {
  if (keys === 1) return '1 key'
  return keys < 1e6 ? `${keys / 1e3} k keys` : `${keys / 1e6} M keys`
}
