import { inChild } from '../in-child.mjs'
import { fixed, table } from '../markdown.mjs'
import { spread } from '../statistics.mjs'

/** The slower, the longer, for a timer's millisecond is to be nothing. */
const RATES = {
  '10/s': { perSecond: 10, ms: 10_000 },
  '1,000/s': { perSecond: 1_000, ms: 5_000 },
  '20,000/s': { perSecond: 20_000, ms: 5_000 },
}
const ROUNDS = 3
const MOST_OFF = 0.001

/** Whether departures keep the rate on the real clock, whatever comes in. */
export const shaperDepartures = {
  name: 'shaper-departures',
  title: 'Shaper: departures on the real clock',

  measure({ full }) {
    const found = Object.entries(RATES).map(([title, { perSecond, ms }]) => {
      const rounds = Array.from({ length: ROUNDS }, (_, i) => {
        console.error(`  ${title}, round ${i + 1} of ${ROUNDS}`)
        return [`round ${i + 1}`, inChild('shaperDepartures', { perSecond, ms: full ? 4 * ms : ms })]
      })
      return [title, Object.fromEntries(rounds)]
    })
    return Object.fromEntries(found)
  },

  render(found) {
    const rows = Object.entries(found).flatMap(([title, rounds]) =>
      Object.entries(rounds).map(([round, own]) => [
        `${title}, ${round}`,
        fixed(own.departures),
        fixed(own.perSecond, 3),
        `${fixed(100 * off(title, own), 3)} %`,
        fixed(own.largestBatch),
        fixed(own.medianMs, 2),
        fixed(own.p99Ms, 2),
        fixed(own.latestMs, 2),
      ]),
    )
    const head = ['', 'departures', 'a second', 'off', 'largest batch', 'half within', '99 % within', 'latest']
    return [
      'Bursts of random size come at random times, so that somebody always waits. The rate is from the first departure to',
      'the last by the clock; a batch is what leaves in one turn of the event loop; the last columns are by how many milliseconds',
      'departures were later than their slots. Timers know whole milliseconds, so what is due within one leaves together.',
      '',
      table(head, rows),
    ].join('\n')
  },

  goals(found) {
    return Object.entries(found).map(([title, rounds]) => {
      const { median, greatest } = spread(Object.values(rounds).map((own) => off(title, own)))
      return {
        goal: `shaper: within ${100 * MOST_OFF} % of ${title} on the real clock`,
        measured: `${fixed(100 * median, 3)} % off (worst round ${fixed(100 * greatest, 3)} %)`,
        reached: median <= MOST_OFF,
      }
    })
  },
}

function off(title, { perSecond }) {
  return Math.abs(perSecond / RATES[title].perSecond - 1)
}
