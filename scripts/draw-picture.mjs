// Draws the picture of the README from real decisions: one client's requests, and what three limits and a shaper do with
// them. `node scripts/draw-picture.mjs` prints it; scripts/test/draw-picture.test.mjs compares it with the README.
import { createLimiter, createShaper, fixedWindow, slidingLog, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { isMain } from './is-main.mjs'

/** A column is a tenth of a second: `|` is a request. */
const TRAFFIC = '|  |     |     ||||||||||||||||          |    |    |'
const TICK_MS = 100
const COLUMNS = 64
const startMs = Date.UTC(2026, 0, 1)
const limits = {
  'token bucket: 6, then 2/s': tokenBucket({ capacity: 6, refill: '2/s' }),
  'fixed window: 6 in 2 s': fixedWindow({ quota: 6, window: '2s' }),
  'sliding log: 6 in any 2 s': slidingLog({ quota: 6, window: '2s' }),
}
const queue = { drain: '4/s', capacity: 20 }
const margin = 29

/** The picture, as lines of text. */
export async function drawPicture() {
  const drawn = Object.entries(limits).map(([name, limit]) => ({ name, ...decisions(limit) }))
  const waits = drawn.map(({ firstWaitMs }) => firstWaitMs)
  return [
    row('', timeLine()),
    row('one client sends', TRAFFIC),
    ...drawn.map(({ name, columns }) => row(name, columns)),
    row('shaper: 4/s, the rest waits', await turns(queue)),
    '',
    '| a request   ● allowed   ○ denied   ▶ leaves the queue',
    `The first ○ of each limit is told when to come back: in ${waits.slice(0, -1).join(', ')} and ${waits.at(-1)} ms.`,
  ].join('\n')
}

const row = (name, columns) => (name.padEnd(margin) + columns).trimEnd()

function timeLine() {
  const marks = Array.from({ length: Math.ceil(COLUMNS / 10) }, (_, second) => `${second} s`.padEnd(10))
  return marks.join('').slice(0, COLUMNS)
}

/** Asks a limit for each request at its time. `firstWaitMs` is what the first denial says. */
function decisions(limit) {
  const clock = new ManualClock(startMs)
  const limiter = createLimiter({ limit, clock })
  let firstWaitMs
  const columns = [...TRAFFIC].map((mark) => {
    const decision = mark === '|' ? limiter.tryAcquire('client') : undefined
    clock.advance(TICK_MS)
    if (decision?.allowed === false) firstWaitMs ??= decision.retryAfterMs
    return decision === undefined ? ' ' : decision.allowed ? '●' : '○'
  })
  return { columns: columns.join(''), firstWaitMs }
}

/** `▶` where a request leaves the queue. */
async function turns(options) {
  const clock = new ManualClock(startMs)
  const shaper = createShaper({ ...options, clock })
  const columns = Array.from({ length: COLUMNS }, () => ' ')
  const leave = () => {
    columns[Math.floor((clock.now() - startMs) / TICK_MS)] = '▶'
  }
  for (let column = 0; column < COLUMNS; column++) {
    if (TRAFFIC[column] === '|') shaper.run(leave).catch(() => {})
    await clock.advanceAsync(TICK_MS)
  }
  return columns.join('')
}

if (isMain(import.meta.url)) console.log(await drawPicture())
