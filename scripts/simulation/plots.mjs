// Two plots as SVG, by hand. Colours follow the reader's light or dark theme.

const WIDTH = 720
const HEIGHT = 400
const LEFT = 84
const RIGHT = 190
const TOP = 52
const BOTTOM = 58
/** Colours that differ in light and dark, and for readers who see fewer colours. */
const COLOURS = ['#0072b2', '#999999', '#d55e00', '#cc79a7', '#009e73', '#e69f00']

const STYLE = `<style>
  text { font: 13px system-ui, sans-serif; fill: #333 } .title { font-size: 15px; font-weight: 600 } .soft { fill: #767676 }
  .grid { stroke: #8884; stroke-width: 1 } .ground { fill: #fff }
  @media (prefers-color-scheme: dark) { text { fill: #ddd } .soft { fill: #9a9a9a } .ground { fill: #161a1f } }
</style>`

/** How far from the limit each strategy is, against its messages. */
export function scatterPlot(rows) {
  const x = logScale(0.001, 10, LEFT, WIDTH - RIGHT)
  const y = logScale(0.001, 1, HEIGHT - BOTTOM, TOP)
  const points = rows.map(({ strategy, messages, error }, i) => {
    // A strategy that sends nothing stands at the left edge.
    const [atX, atY] = [x(Math.max(0.001, messages)), y(Math.max(0.001, error))]
    const label = `${strategy}${messages === 0 ? ' (none)' : ''}`
    return `${dot(atX, atY, COLOURS[i], 6)}<text x="${atX + 11}" y="${atY + 4}">${label}</text>`
  })
  const marks = [
    ...[0.001, 0.01, 0.1, 1, 10].map((value) => tickX(x(value), String(value))),
    ...[0.001, 0.01, 0.1, 1].map((value) => tickY(y(value), `${+(100 * value).toFixed(1)} %`)),
  ]
  return page(
    'Accuracy against messages: 50 nodes, 1.5 times the limit',
    'messages a decision',
    'distance from the limit',
    [...marks, ...points],
  )
}

/** Messages a decision, as the fleet grows. */
export function growthPlot(sizes, growth) {
  const x = logScale(1, 500, LEFT, WIDTH - RIGHT)
  const y = logScale(0.01, 10, HEIGHT - BOTTOM, TOP)
  const shown = Object.entries(growth).map(([strategy, values], i) => ({ strategy, values, colour: COLOURS[i] }))
  const labels = apart(
    shown.filter(({ values }) => values.at(-1) > 0).map((each) => ({ ...each, at: y(each.values.at(-1)) })),
  )
  const lines = labels.map(({ values, colour }) => {
    const points = values.map((value, i) => [x(sizes[i]), y(value)])
    const path = points.map(([atX, atY]) => `${atX.toFixed(1)},${atY.toFixed(1)}`).join(' ')
    return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>${points.map(([atX, atY]) => dot(atX, atY, colour, 3)).join('')}`
  })
  const names = labels.map(({ strategy, at }) => `<text x="${WIDTH - RIGHT + 12}" y="${at + 4}">${strategy}</text>`)
  const marks = [
    ...[1, 10, 50, 100, 500].map((value) => tickX(x(value), String(value))),
    ...[0.01, 0.1, 1, 10].map((value) => tickY(y(value), String(value))),
  ]
  return page('Messages a decision as the fleet grows', 'nodes', 'messages a decision', [...marks, ...lines, ...names])
}

/** Moves labels down until none covers the one above it. */
function apart(labels) {
  const sorted = labels.sort((one, other) => one.at - other.at)
  for (const [i, label] of sorted.entries()) if (i > 0) label.at = Math.max(label.at, sorted[i - 1].at + 17)
  return sorted
}

function logScale(from, to, start, end) {
  return (value) => start + ((end - start) * Math.log(value / from)) / Math.log(to / from)
}

function dot(x, y, colour, radius) {
  return `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${radius}" fill="${colour}"/>`
}

function tickX(x, label) {
  const at = x.toFixed(1)
  return `<line class="grid" x1="${at}" x2="${at}" y1="${TOP}" y2="${HEIGHT - BOTTOM}"/><text class="soft" x="${at}" y="${HEIGHT - BOTTOM + 20}" text-anchor="middle">${label}</text>`
}

function tickY(y, label) {
  const at = y.toFixed(1)
  return `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at}" y2="${at}"/><text class="soft" x="${LEFT - 10}" y="${y + 4}" text-anchor="end">${label}</text>`
}

function page(title, xName, yName, parts) {
  const middle = (TOP + HEIGHT - BOTTOM) / 2
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">
${STYLE}
<rect class="ground" width="${WIDTH}" height="${HEIGHT}" rx="8"/>
<text class="title" x="${LEFT}" y="30">${title}</text>
<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 14}" text-anchor="middle">${xName}</text>
<text x="22" y="${middle}" text-anchor="middle" transform="rotate(-90 22 ${middle})">${yName}</text>
${parts.join('\n')}
</svg>
`
}
