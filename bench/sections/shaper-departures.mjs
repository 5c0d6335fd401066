import { inChild } from '../in-child.mjs'
import { fixed, table } from '../markdown.mjs'
import { spread } from '../statistics.mjs'

/** Their callers hold up the process for longer than slots are kept, and then those are lost: no rate can be asked of it. */
const HELD_UP = '20,000/s in large bursts'

/** The slower, the longer, for a timer's millisecond is to be nothing. */
const CASES = {
  '1/s': { perSecond: 1, burstMs: 3_000, ms: 12_000 },
  '10/s': { perSecond: 10, burstMs: 300, ms: 10_000 },
  '1,000/s': { perSecond: 1_000, burstMs: 100, ms: 5_000 },
  '20,000/s': { perSecond: 20_000, burstMs: 100, ms: 5_000 },
  [HELD_UP]: { perSecond: 20_000, burstMs: 700, ms: 5_000 },
}
const ROUNDS = 3
const MOST_OFF = 0.001
/** What a process that was held up lets go at once at most. */
const CATCH_UP_SECONDS = 0.02

/** Whether departures keep the rate on the real clock, whatever comes in. */
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
    const head = ['', 'departures', 'a second', 'off', 'largest crowd', 'half within', '99 % within', 'latest']
    return [
      'Bursts of random size come at random times, so that somebody always waits: at 20,000/s about 2,000 calls in a row, and in',
      'large bursts about 14,000, which alone take the process longer than slots are kept. The rate is by least squares over the times at',
      'which they left, without the first tenth; a crowd is what leaves in one turn of the event loop beyond what is due while that',
      'turn lasts; the last columns are by how many milliseconds departures were later than their slots. Timers know whole',
      'milliseconds, so what is due within one leaves together, and so does what fell due while the process was held up, if that',
      'was for no more than 20 ms. Where it is held up for longer, slots are lost, and the rate falls short by them.',
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
    goal: `shaper: no more at once than 20 ms are worth, ${fixed(share)}, at ${title}`,
    measured: fixed(most),
    reached: most <= share,
  }
}

function off(title, { perSecond }) {
  return Math.abs(perSecond / CASES[title].perSecond - 1)
}
