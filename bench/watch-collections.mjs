import { PerformanceObserver } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'

/** Records when the garbage collector stops the program, as `{ start, end }` in milliseconds of `performance.now()`. */
export function watchCollections() {
  const pauses = []
  const observer = new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries())
      pauses.push({ start: startTime, end: startTime + duration })
  })
  observer.observe({ entryTypes: ['gc'] })
  return {
    async stop() {
      // Entries arrive when the event loop turns.
      await setTimeout(100)
      observer.disconnect()
      return pauses
    },
  }
}
