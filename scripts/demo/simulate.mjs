// Sends one key's traffic through a limit on a clock that is moved by hand, and records when each request passes.
import { createLimiter } from 'sluice'
import { ManualClock } from 'sluice/testing'

/** A multiple of the demo's windows, so that they begin at 0. */
const START_MS = 1_745_000_000_000

/** When each admitted request passes (a leaky bucket makes it wait for its turn), and how many were denied. */
export function simulate(limit, arrivalsMs) {
  const clock = new ManualClock(START_MS)
  const limiter = createLimiter({ limit, clock })
  const departuresMs = []
  let denied = 0
  for (const atMs of arrivalsMs) {
    clock.advance(START_MS + atMs - clock.now())
    const decision = limiter.tryAcquire('client')
    if (decision.allowed) departuresMs.push(atMs + decision.delayMs)
    else denied++
  }
  return { departuresMs, denied }
}

/** The most requests that passed within any half-open interval of this length. */
export function mostWithin(timesMs, lengthMs) {
  let most = 0
  let from = 0
  for (let to = 0; to < timesMs.length; to++) {
    while (timesMs[to] - timesMs[from] >= lengthMs) from++
    most = Math.max(most, to - from + 1)
  }
  return most
}
