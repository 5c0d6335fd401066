import { createLimiter, createShaper, leakyBucket } from 'sluice'
import { describe, expect, it } from 'vitest'
import { until } from '../../redis/faults-until.js'
import { ownServer } from '../../redis/own-server.js'

const own = ownServer()

/** So slow that no slot comes during a test. */
const numbers = { drain: '6/m', capacity: 10 } as const
const SPACING_MS = 10_000
const KEY = 'bank'

/** Two shapers, as two processes would have, and a function that looks at the bucket that they share. */
function twoShapers(name: string) {
  const shared = { ...numbers, name, store: own.store }
  const limiter = createLimiter({ name, limit: leakyBucket(numbers), store: own.store })
  const nextSlot = async () => Math.ceil((await limiter.peek(KEY)).delayMs / SPACING_MS)
  const untilNextSlot = (slot: number) => until(`the next slot is ${slot}`, async () => (await nextSlot()) === slot)
  return { one: createShaper(shared), other: createShaper(shared), nextSlot, untilNextSlot }
}

/** A caller that waits until it is told to give up. */
function waits(shaper: ReturnType<typeof createShaper>) {
  const controller = new AbortController()
  const reason = new Error('enough')
  const turn = shaper.wait({ key: KEY, signal: controller.signal })
  const ended = expect(turn).rejects.toBe(reason)
  return {
    async giveUp() {
      controller.abort(reason)
      await ended
    },
  }
}

describe('a waiter that gives up over Redis', () => {
  it('gives its slot back if that is the last of all', async () => {
    const { one, other, untilNextSlot } = twoShapers('last')
    await one.wait({ key: KEY })
    const second = waits(one)
    await untilNextSlot(2)
    const third = waits(other)
    await untilNextSlot(3)
    await third.giveUp()
    await untilNextSlot(2)
    await second.giveUp()
    await untilNextSlot(1)
  })

  it('leaves a gap if another process has a slot behind it', async () => {
    const { one, other, nextSlot, untilNextSlot } = twoShapers('middle')
    await one.wait({ key: KEY })
    const second = waits(one)
    await untilNextSlot(2)
    const third = waits(other)
    await untilNextSlot(3)
    await second.giveUp()
    // Asked after the refund, and over the same connection.
    expect(await nextSlot()).toBe(3)
    // When the waiter behind gives up too, only its own slot is free again.
    await third.giveUp()
    await untilNextSlot(2)
    expect(await nextSlot()).toBe(2)
  })

  it('lets the waiters behind it in its process move up, and gives back the last of their slots', async () => {
    const { one, other, untilNextSlot } = twoShapers('own')
    await other.wait({ key: KEY })
    const second = waits(one)
    await untilNextSlot(2)
    const third = waits(one)
    await untilNextSlot(3)
    await second.giveUp()
    await untilNextSlot(2)
    await third.giveUp()
    await untilNextSlot(1)
  })

  it('gives its slot back even if it gave up before Redis answered', async () => {
    const { one, other, nextSlot, untilNextSlot } = twoShapers('early')
    await other.wait({ key: KEY })
    await waits(one).giveUp()
    await untilNextSlot(1)
    await one.onIdle()
    expect(await nextSlot()).toBe(1)
  })
})
