import { getEventListeners } from 'node:events'
import { memoryStore, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { expect, it } from 'vitest'
import { UnitQueues } from '../../src/waiting/unit-queues.js'

const MANY = 100_000
const limit = tokenBucket({ capacity: 1, refill: '1000/s' })

function waitingRoom() {
  const clock = new ManualClock(1_745_000_000_000)
  const store = memoryStore({ clock })
  const waiters = new UnitQueues(store, { name: 'many', limit })
  return { clock, store, waiters }
}

it('100,000 waiters of one key are served in order', async () => {
  const { clock, waiters } = waitingRoom()
  const served: number[] = []
  for (let i = 0; i < MANY; i++) {
    waiters.wait('key', { cost: 1, priority: 0, signal: undefined, maxWaitMs: MANY }).then(() => served.push(i))
  }
  clock.advance(MANY)
  await new Promise(setImmediate)
  expect(served).toHaveLength(MANY)
  expect(served.every((each, i) => each === i)).toBe(true)
  expect(waiters.size).toEqual({ queues: 0, signals: 0 })
  expect(clock.nextAlarmMs).toBeUndefined()
})

it.each([
  ['from the front', (i: number) => i],
  ['from the middle', (i: number) => (i * 61_803 + 50_000) % MANY],
])('100,000 waiters that leave one after another, %s, leave nothing behind', async (_, nth) => {
  const { clock, store, waiters } = waitingRoom()
  store.charge({ name: 'many', limit, key: 'key', cost: 1 })
  const controllers = Array.from({ length: MANY }, () => new AbortController())
  let left = 0
  for (const { signal } of controllers) {
    waiters.wait('key', { cost: 1, priority: 0, signal, maxWaitMs: 1e9 }).catch(() => left++)
  }
  expect(waiters.size).toEqual({ queues: 1, signals: MANY })
  for (let i = 0; i < MANY; i++) controllers[nth(i)].abort('gone')
  await new Promise(setImmediate)
  expect(left).toBe(MANY)
  expect(waiters.size).toEqual({ queues: 0, signals: 0 })
  expect(controllers.every(({ signal }, i) => i % 100 > 0 || getEventListeners(signal, 'abort').length === 0)).toBe(
    true,
  )
  expect(clock.nextAlarmMs).toBeUndefined()
})

it('100,000 waiters with one signal leave together', async () => {
  const { clock, store, waiters } = waitingRoom()
  const controller = new AbortController()
  const { signal } = controller
  let left = 0
  for (let i = 0; i < MANY; i++) {
    const key = `key ${i % 1_000}`
    if (i < 1_000) store.charge({ name: 'many', limit, key, cost: 1 })
    waiters.wait(key, { cost: 1, priority: 0, signal, maxWaitMs: Infinity }).catch(() => left++)
  }
  expect(waiters.size).toEqual({ queues: 1_000, signals: 1 })
  controller.abort()
  await new Promise(setImmediate)
  expect(left).toBe(MANY)
  expect(waiters.size).toEqual({ queues: 0, signals: 0 })
  expect(clock.nextAlarmMs).toBeUndefined()
})

it('the listener of a signal is removed when its waiter is served', async () => {
  const { clock, store, waiters } = waitingRoom()
  store.charge({ name: 'many', limit, key: 'key', cost: 1 })
  const { signal } = new AbortController()
  const wait = waiters.wait('key', { cost: 1, priority: 0, signal, maxWaitMs: Infinity })
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  clock.advance(1)
  await wait
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})
