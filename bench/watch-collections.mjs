import { PerformanceObserver } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'

/** Watches when the garbage collector stops the program: `{ start, end }` on the clock of `performance.now()`. */
export function watchCollections() {
  const pauses = []
  const observer = new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries())
      pauses.push({ start: startTime, end: startTime + duration })
  })
  observer.observe({ entryTypes: ['gc'] })
  return {
    async stop() {
      // They are reported when the event loop turns.
      await setTimeout(100)
      observer.disconnect()
      return pauses
    },
  }
}
