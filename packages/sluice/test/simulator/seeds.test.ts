import { describe, expect, it } from 'vitest'
import { EventQueue } from './event-queue.js'
import { eachSeed, onlySeed } from './seeds.js'

describe.skipIf(onlySeed !== undefined)('an error in a simulated seed', () => {
  it('names the command that replays it, whatever was thrown', async () => {
    const seen: number[] = []
    const run = async (seed: number) => {
      seen.push(seed)
      if (seed === 2) expect(seed).toBe(3)
    }
    await expect(eachSeed('simulator/law', 5, run)).rejects.toThrow(
      /^SLUICE_SEED=2 npx vitest run simulator\/law: expected 2/,
    )
    expect(seen).toEqual([0, 1, 2])
    await expect(eachSeed('file', 1, () => Promise.reject('a text'))).rejects.toThrow(/^SLUICE_SEED=0 .*: a text/)
  })

  it('is thrown for a simulation whose time stands still', async () => {
    const queue = new EventQueue()
    const again = () => queue.after(0, again)
    again()
    await expect(eachSeed('file', 1, () => queue.runUntil(1_000))).rejects.toThrow(/SLUICE_SEED=0 .*time stands still/)
  })
})
