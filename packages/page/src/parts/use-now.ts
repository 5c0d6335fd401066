import { useEffect, useState } from 'preact/hooks'

/** Waits are shown with a tenth of a second. */
const EVERY_MS = 100

/** `performance.now()`, read anew ten times a second while the tab is seen and `runs`: for what counts down. */
export function useNow(runs = true): number {
  const [now, setNow] = useState(() => performance.now())
  useEffect(() => {
    if (!runs) return
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') setNow(performance.now())
    }, EVERY_MS)
    return () => clearInterval(timer)
  }, [runs])
  return now
}
