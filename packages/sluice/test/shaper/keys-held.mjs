/** Prints how many bytes a shaper takes for each of a million keys, and after 100,000 that waited have left. */
import { createShaper } from 'sluice'
import { ManualClock } from 'sluice/testing'

const KEYS = 1_000_000
const WAITERS = 100_000

function bytes() {
  gc()
  gc()
  const { heapUsed, external, arrayBuffers } = process.memoryUsage()
  return heapUsed + Math.max(external, arrayBuffers)
}

const clock = new ManualClock(Date.UTC(2026, 0, 1))
const shaper = createShaper({ drain: '1/m', capacity: 10, clock })
const before = bytes()
for (let i = 0; i < KEYS; i++) await shaper.wait({ key: `key:${i}` })
const aKey = (bytes() - before) / KEYS

const other = createShaper({ drain: '1/m', capacity: 10, clock })
for (let i = 0; i < WAITERS; i++) void other.wait({ key: `key:${i}` })
const withOneEach = bytes()
let left = 0
for (let i = 0; i < WAITERS; i++) void other.wait({ key: `key:${i}` }).then(() => left++)
const waiting = other.size
clock.advance(60_000)
await other.onIdle()
await new Promise((resolve) => setImmediate(resolve))
const aWaiterLeft = (bytes() - withOneEach) / WAITERS
console.log(JSON.stringify({ aKey, waiting, left, aWaiterLeft, alarm: clock.nextAlarmMs ?? null }))
// Keeps them alive until here: otherwise they would be collected before they are measured.
await Promise.all([shaper.close(), other.close()])
