// `npm start` until there is a service: five algorithms meet the same traffic, drawn in the terminal.
import { contenders } from './contenders.mjs'
import { mostWithin, simulate } from './simulate.mjs'
import { arrivals, DURATION_MS } from './traffic.mjs'

const COLUMN_MS = 500
const COLUMNS = DURATION_MS / COLUMN_MS
const HEIGHTS = ' ▁▂▃▄▅▆▇█'
const TALLEST = 30

/** Writes the chart to a stream; in colour if it is a terminal that has not asked for none. */
export function runDemo(out) {
  const paint = out.isTTY && !process.env.NO_COLOR ? (code, text) => `\x1b[${code}m${text}\x1b[0m` : (_, text) => text
  const times = arrivals()
  const line = (text = '') => out.write(`${text}\n`)

  line()
  line(
    `  ${paint(1, 'Sluice')}: one client, ${times.length} requests in ${DURATION_MS / 1000} s, five ways to limit it`,
  )
  line()
  line(`  ${''.padEnd(36)}${axis()}  passed  denied  in any 1 s`)
  line(row('requests', '', times, paint(2, bars(times))))
  for (const { title, note, limit } of contenders) {
    const { departuresMs, denied } = simulate(limit, times)
    line(row(title, note, departuresMs, paint(36, bars(departuresMs)), denied))
  }
  line()
  for (const text of REMARKS) line(`  ${text}`)
  line()
}

const REMARKS = [
  'token bucket    lets a burst of 20 through at once and earns 5 a second back while idle.',
  'leaky bucket    takes the same 20, but lets them go one every 200 ms: what is behind it never sees a burst.',
  'fixed window    forgets at each boundary: around 8 s it passes 40, twice its quota, within one second.',
  'sliding window  weighs the window before by what of it is left: no such burst.',
  'sliding log     remembers every request: never more than 20 in any 4 s, exactly.',
]

function row(title, note, times, chart, denied) {
  const label = `${title.padEnd(16)}${note.padEnd(18)}`
  const passed = String(times.length).padStart(8)
  const refused = (denied === undefined ? '' : String(denied)).padStart(8)
  return `  ${label}  ${chart} ${passed}${refused}${String(mostWithin(times, 1000)).padStart(12)}`
}

/** A column half a second; its height is how many went in it. */
function bars(times) {
  const counts = new Array(COLUMNS).fill(0)
  for (const time of times) if (time < DURATION_MS) counts[Math.floor(time / COLUMN_MS)]++
  return counts.map((count) => HEIGHTS[count === 0 ? 0 : 1 + Math.round((7 * count) / TALLEST)] ?? '█').join('')
}

function axis() {
  const ticks = Array.from({ length: COLUMNS / 8 }, (_, i) => `${i * 4} s`.padEnd(8))
  return ticks.join('').slice(0, COLUMNS)
}
