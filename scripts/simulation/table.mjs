// The table of docs/simulation.md.

export function tableOf(rows) {
  const percent = (share) => `${(100 * share).toFixed(1)} %`
  const header = [
    '',
    'mean over',
    'peak over',
    'spread 100 ms',
    'spread 1 s',
    'worst interval',
    'Jain',
    'follows after',
    'messages',
  ]
  const lines = rows.map((row) => [
    row.strategy,
    percent(row.meanOver),
    percent(row.peakOver),
    percent(row.spread100Ms),
    percent(row.spread1S),
    row.worstInterval.toFixed(2),
    row.jain.toFixed(3),
    row.convergenceMs === undefined ? 'never' : `${row.convergenceMs} ms`,
    row.messages.toFixed(3),
  ])
  const widths = header.map((_, i) => Math.max(...[header, ...lines].map((cells) => cells[i].length)))
  const line = (cells) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join(' | ')} |`
  const rule = `| ${widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  return `${[line(header), rule, ...lines.map(line)].join('\n')}\n`
}
