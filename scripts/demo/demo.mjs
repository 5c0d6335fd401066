// `npm start` until there is a service: draws in the terminal how five algorithms treat the same traffic.
import { contenders } from './contenders.mjs'
import { mostWithin, simulate } from './simulate.mjs'
import { arrivals, DURATION_MS } from './traffic.mjs'

const COLUMN_MS = 500
const COLUMNS = DURATION_MS / COLUMN_MS
const HEIGHTS = ' ▁▂▃▄▅▆▇█'
const TALLEST = 30

/** Writes the chart to a stream; in colour if the stream is a terminal and NO_COLOR is not set. */
export function runDemo(out) {
  const paint = out.isTTY && !process.env.NO_COLOR ? (code, text) => `\x1b[${code}m${text}\x1b[0m` : (_, text) => text
  const times = arrivals()
  const line = (text = '') => out.write(`${text}\n`)

  line()
  line(`  ${paint(1, 'Sluice')}: one client, ${times.length} requests in ${DURATION_MS / 1000} s, five limits`)
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
  'token bucket    passes a burst of 20 at once and refills 5 a second.',
  'leaky bucket    accepts the same 20, but passes one every 200 ms: the server behind it never sees a burst.',
  'fixed window    starts a new count at each boundary: around 8 s it passes 40, twice its quota, in one second.',
  'sliding window  adds the part of the last window that lies within 4 s: no burst at the boundary.',
  'sliding log     stores the time of every request: never more than 20 in any 4 s, exactly.',
]

function row(title, note, times, chart, denied) {
  const label = `${title.padEnd(16)}${note.padEnd(18)}`
  const passed = String(times.length).padStart(8)
  const refused = (denied === undefined ? '' : String(denied)).padStart(8)
  return `  ${label}  ${chart} ${passed}${refused}${String(mostWithin(times, 1000)).padStart(12)}`
}

/** One column for each half second; its height is the number of requests that passed in it. */
function bars(times) {
  const counts = new Array(COLUMNS).fill(0)
  for (const time of times) if (time < DURATION_MS) counts[Math.floor(time / COLUMN_MS)]++
  return counts.map((count) => HEIGHTS[count === 0 ? 0 : 1 + Math.round((7 * count) / TALLEST)] ?? '█').join('')
}

function axis() {
  const ticks = Array.from({ length: COLUMNS / 8 }, (_, i) => `${i * 4} s`.padEnd(8))
  return ticks.join('').slice(0, COLUMNS)
}
