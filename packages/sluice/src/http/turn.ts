import { setAlarm, systemClock } from '../clock.js'

/** Runs something after a while, however long. Gives a function that stops it. */
export function after(ms: number, run: () => void): () => void {
  return setAlarm(systemClock, systemClock.now() + ms, run)
}

/** Resolves after a while, or at once when the signal says that nobody waits any more. */
export function turn(ms: number, signal?: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve()
  return new Promise((resolve) => {
    const finish = () => {
      signal?.removeEventListener('abort', stopped)
      resolve()
    }
    const stop = after(ms, finish)
    const stopped = () => {
      stop()
      resolve()
    }
    signal?.addEventListener('abort', stopped, { once: true })
  })
}
