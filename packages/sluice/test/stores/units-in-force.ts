/**
 * The units that one key was admitted, as a plain list of all admissions. It shares no code with the library and has no
 * bound on memory.
 */
import type { Limit } from 'sluice'

interface Admission {
  readonly atUs: number
  /** The admitted units less the refunded ones. */
  units: number
}

/** The only form of a rate that is supported here. */
const RATE = /^(\d+)\/s$/
const UNIT_US: Readonly<Record<string, number>> = { ms: 1_000, s: 1_000_000, m: 60_000_000 }

/** The units of one key that count against a limit. Times never step back. */
export class UnitsInForce {
  readonly #limit: Limit
  readonly #admissions: Admission[] = []
  /** For a bucket: the used units, in millionths, and the time at which so many were used. */
  #usedMillionths = 0
  #usedAtUs = 0

  constructor(limit: Limit) {
    this.#limit = limit
  }

  /** The units in force now, rounded up for a bucket. */
  at(nowUs: number): number {
    const limit = this.#limit
    if ('capacity' in limit) return Math.ceil(this.#usedAt(nowUs) / 1e6)
    if (limit.algorithm === 'sliding-window') return Math.ceil(this.#estimate(nowUs, limit.slices ?? 1))
    const lengthUs = this.#lengthUs()
    const counts = (atUs: number) =>
      limit.algorithm === 'fixed-window'
        ? Math.floor(atUs / lengthUs) === Math.floor(nowUs / lengthUs)
        : atUs + lengthUs > nowUs
    return this.#sum(({ atUs }) => (counts(atUs) ? 1 : 0))
  }

  admit(nowUs: number, units: number): Admission {
    const admission = { atUs: nowUs, units }
    this.#admissions.push(admission)
    this.#usedMillionths = this.#usedAt(nowUs) + units * 1e6
    this.#usedAtUs = nowUs
    return admission
  }

  refund(nowUs: number, admission: Admission, units: number): void {
    admission.units -= units
    this.#usedMillionths = Math.max(0, this.#usedAt(nowUs) - units * 1e6)
    this.#usedAtUs = nowUs
  }

  #usedAt(nowUs: number): number {
    return Math.max(0, this.#usedMillionths - (nowUs - this.#usedAtUs) * this.#unitsASecond())
  }

  /** The units of the slices inside the window, plus the share of the leaving slice that is still inside. */
  #estimate(nowUs: number, slices: number): number {
    const sliceUs = this.#lengthUs() / slices
    const slice = Math.floor(nowUs / sliceUs)
    return this.#sum(({ atUs }) => {
      const age = slice - Math.floor(atUs / sliceUs)
      if (age === slices) return 1 - (nowUs - slice * sliceUs) / sliceUs
      return age < slices ? 1 : 0
    })
  }

  #sum(weight: (admission: Admission) => number): number {
    return this.#admissions.reduce((sum, admission) => sum + admission.units * weight(admission), 0)
  }

  #lengthUs(): number {
    const text = 'ttl' in this.#limit ? this.#limit.ttl : 'window' in this.#limit ? this.#limit.window : ''
    const [, count = '', unit = ''] = /^(\d+)(ms|s|m)$/.exec(text) ?? []
    return Number(count) * UNIT_US[unit]
  }

  #unitsASecond(): number {
    const text = 'refill' in this.#limit ? this.#limit.refill : 'drain' in this.#limit ? this.#limit.drain : '0/s'
    return Number(RATE.exec(text)?.[1])
  }
}
