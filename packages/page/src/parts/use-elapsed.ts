import { useEffect, useState } from 'preact/hooks'

/** Waits are shown with a tenth of a second. */
const EVERY_MS = 100

/**
 * How long ago something was, in milliseconds, for what counts down: read anew ten times a second while the tab is seen. `sinceMs` is
 * a time of `performance.now()`; `undefined` stands still at 0.
 */
export function useElapsed(sinceMs: number | undefined): number {
  const [nowMs, setNowMs] = useState(() => performance.now())
  const runs = sinceMs !== undefined
  useEffect(() => {
    if (!runs) return
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') setNowMs(performance.now())
    }, EVERY_MS)
    return () => clearInterval(timer)
  }, [runs])
  return runs ? Math.max(0, nowMs - sinceMs) : 0
}
