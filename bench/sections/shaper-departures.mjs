import { inChild } from '../in-child.mjs'
import { fixed, table } from '../markdown.mjs'
import { spread } from '../statistics.mjs'

/** These bursts hold up the process for longer than a slot is kept. Slots are lost then, so there is no goal for the rate. */
const HELD_UP = '20,000/s in large bursts'

/** A slower rate is measured for longer, so that a timer's millisecond does not count. */
const CASES = {
  '1/s': { perSecond: 1, burstMs: 3_000, ms: 12_000 },
  '10/s': { perSecond: 10, burstMs: 300, ms: 10_000 },
  '1,000/s': { perSecond: 1_000, burstMs: 100, ms: 5_000 },
  '20,000/s': { perSecond: 20_000, burstMs: 100, ms: 5_000 },
  [HELD_UP]: { perSecond: 20_000, burstMs: 700, ms: 5_000 },
}
const ROUNDS = 3
const MOST_OFF = 0.001
/** A process that was held up lets at most this much leave at once. */
const CATCH_UP_SECONDS = 0.02

/** Departures keep the rate on the real clock, however calls arrive. */
export const shaperDepartures = {
  name: 'shaper-departures',
  title: 'Shaper: departures on the real clock',

  measure({ full }) {
    const found = Object.entries(CASES).map(([title, { ms, ...rest }]) => {
      const rounds = Array.from({ length: ROUNDS }, (_, i) => {
        console.error(`  ${title}, round ${i + 1} of ${ROUNDS}`)
        return [`round ${i + 1}`, inChild('shaperDepartures', { ...rest, ms: full ? 4 * ms : ms })]
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
        fixed(own.largestCrowd),
        fixed(own.medianMs, 2),
        fixed(own.p99Ms, 2),
        fixed(own.latestMs, 2),
      ]),
    )
    const head = ['', 'departures', 'a second', 'off', 'largest crowd', 'p50 late', 'p99 late', 'latest']
    return [
      'Bursts of random size arrive at random times, so that some call always waits: about 2,000 calls in a row at 20,000/s, and',
      'about 14,000 in large bursts, which alone hold up the process for longer than a slot is kept. The rate is a least-squares',
      'fit of the departure times, without the first tenth. A crowd is the number of departures in one turn of the event loop,',
      'less the number that is due while the turn lasts. The last columns are milliseconds between slot and departure. setTimeout',
      'takes whole milliseconds, so departures that are due within one leave together. If the process is held up for at most',
      '20 ms, departures that became due meanwhile also leave together. If it is held up for longer, slots are lost, and the rate',
      'falls short by them.',
      '',
      table(head, rows),
    ].join('\n')
  },

  goals(found) {
    return Object.entries(found).map(([title, rounds]) => (title === HELD_UP ? crowdGoal : rateGoal)(title, rounds))
  },
}

function rateGoal(title, rounds) {
  const { median, greatest } = spread(Object.values(rounds).map((own) => off(title, own)))
  return {
    goal: `shaper: within ${100 * MOST_OFF} % of ${title} on the real clock`,
    measured: `${fixed(100 * median, 3)} % off (worst round ${fixed(100 * greatest, 3)} %)`,
    reached: median <= MOST_OFF,
  }
}

function crowdGoal(title, rounds) {
  const most = Math.max(...Object.values(rounds).map(({ largestCrowd }) => largestCrowd))
  const share = CATCH_UP_SECONDS * CASES[title].perSecond + 1
  return {
    goal: `shaper: at most ${fixed(share)} at once, the departures of 20 ms, at ${title}`,
    measured: fixed(most),
    reached: most <= share,
  }
}

function off(title, { perSecond }) {
  return Math.abs(perSecond / CASES[title].perSecond - 1)
}
