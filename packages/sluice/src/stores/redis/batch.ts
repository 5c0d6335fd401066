import { arithmeticOf, type Limit } from '../../limits/index.js'
import { ALGORITHM_ORDER } from './script.js'

/** A limit as the script wants it, remembered: it is the same text with every request. */
const texts = new WeakMap<Limit, string>()

function textOf(limit: Limit): string {
  let text = texts.get(limit)
  if (text === undefined) {
    const { parameters } = arithmeticOf(limit).remote
    text = JSON.stringify([ALGORITHM_ORDER.indexOf(limit.algorithm) + 1, ...parameters])
    texts.set(limit, text)
  }
  return text
}

/** One call of the script, as it is put together: see lua/main.lua for what the numbers mean. */
export class Batch {
  readonly keys: string[] = []
  readonly #limits: Limit[] = []
  #limitTexts = ''
  #steps = ''
  #runLimit: Limit | undefined
  #runCost = 0
  #runCount = 0

  /** A request of one demand. Equal ones in a row are one step. */
  decide(key: string, limit: Limit, cost: number): void {
    this.keys.push(key)
    if (limit === this.#runLimit && cost === this.#runCost) {
      this.#runCount++
      return
    }
    this.#endRun()
    this.#runLimit = limit
    this.#runCost = cost
    this.#runCount = 1
  }

  /** The next `count` calls of `demand` are one request. */
  group(count: number): void {
    this.#step(`2,${count}`)
  }

  demand(key: string, limit: Limit, cost: number, takes: boolean, shadow: boolean): void {
    this.keys.push(key)
    this.#step(`${this.#placeOf(limit)},${cost},${(takes ? 1 : 0) + (shadow ? 2 : 0)}`)
  }

  charge(key: string, limit: Limit, cost: number): void {
    this.keys.push(key)
    this.#step(`3,${this.#placeOf(limit)},${cost}`)
  }

  refund(
    key: string,
    limit: Limit,
    units: number,
    taken: { atUs: number; cost: number; delayMs: number } | undefined,
    isUndo: boolean,
  ): void {
    this.keys.push(key)
    const known = taken === undefined ? '0' : `${isUndo ? 2 : 1},${taken.atUs},${taken.cost},${taken.delayMs}`
    this.#step(`4,${this.#placeOf(limit)},${units},${known}`)
  }

  reset(keys: readonly string[]): void {
    this.keys.push(...keys)
    this.#step('5')
  }

  block(keys: readonly string[], durationUs: number): void {
    this.keys.push(...keys)
    this.#step(`6,${durationUs}`)
  }

  overrideChanges(keys: readonly string[], since: number, most: number, base: number): void {
    this.keys.push(...keys)
    this.#step(`7,${since},${most},${base}`)
  }

  setOverride(keys: readonly string[], name: string, value: string, untilMs: number): void {
    this.keys.push(...keys)
    this.#step(`8,${JSON.stringify(name)},${JSON.stringify(value)},${untilMs}`)
  }

  /** The script's argument. */
  toString(): string {
    this.#endRun()
    return `[[${this.#limitTexts}],[${this.#steps}]]`
  }

  #endRun(): void {
    if (this.#runLimit === undefined) return
    const run = `1,${this.#placeOf(this.#runLimit)},${this.#runCost},${this.#runCount}`
    this.#runLimit = undefined
    this.#step(run)
  }

  #step(text: string): void {
    this.#endRun()
    this.#steps = this.#steps === '' ? text : `${this.#steps},${text}`
  }

  #placeOf(limit: Limit): number {
    let place = this.#limits.indexOf(limit)
    if (place < 0) {
      place = this.#limits.push(limit) - 1
      this.#limitTexts = place === 0 ? textOf(limit) : `${this.#limitTexts},${textOf(limit)}`
    }
    return place + 1
  }
}
