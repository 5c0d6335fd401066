import type { Awaitable } from '../../stores/index.js'
import type { ReadField } from '../client-address.js'
import { giveBack } from '../give-back.js'
import { mapped } from '../mapped.js'
import { renewedFields } from '../merge-fields.js'
import type { Passage } from '../passage.js'

/** The passages of a request whose units come back if a later limit denies it. */
export class HeldPassages {
  #passages: Passage[] = []

  add(passage: Passage): void {
    this.#passages.push(passage)
  }

  /**
   * Gives back the units of a request that a later limit denies, and writes into its response what is left with them. If a
   * store fails to say, the fields tell what was left before.
   */
  giveBack(read: ReadField, set: (name: string, value: string) => unknown): Awaitable<void> {
    const told = this.#passages.map((passage) => ({ passage, before: passage.headers }))
    this.#passages = []
    const tell = () => {
      for (const { passage, before } of told) {
        const renewed = renewedFields(before, passage.headers, read)
        for (const name in renewed) set(name, renewed[name])
      }
    }
    return mapped(giveBack(told.map(({ passage }) => passage)), tell)
  }

  /** Calls `run`, which returns whether the request goes on. If it does not, or if `run` fails, gives the units back. */
  cancelUnless(run: () => Awaitable<boolean>): Awaitable<boolean> {
    const ended = (goes: boolean) => {
      if (!goes) this.#cancel()
      return goes
    }
    const failed = (error: unknown) => {
      this.#cancel()
      throw error
    }
    try {
      const goes = run()
      return goes instanceof Promise ? goes.then(ended, failed) : ended(goes)
    } catch (error) {
      return failed(error)
    }
  }

  #cancel(): void {
    for (const passage of this.#passages) passage.cancel()
    this.#passages = []
  }
}
