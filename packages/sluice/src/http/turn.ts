/** A timer cannot be set further ahead. */
const LONGEST_MS = 2 ** 31 - 1

/** Runs something after a while, however long. Gives a function that stops it. */
export function after(ms: number, run: () => void): () => void {
  const dueMs = performance.now() + ms
  let timer: ReturnType<typeof setTimeout>
  const wait = () => {
    const leftMs = dueMs - performance.now()
    if (leftMs <= 0) run()
    else timer = setTimeout(wait, Math.min(LONGEST_MS, Math.ceil(leftMs)))
  }
  wait()
  return () => clearTimeout(timer)
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
