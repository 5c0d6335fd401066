import type { StreamLink } from './stream-link.js'

/** A person who looks into another tab for a moment comes back to a stream that went on. */
const HIDDEN_MS = 30_000

/**
 * Keeps a stream open while the tab is seen, until the function that is returned is called. A browser opens six connections to a
 * service: six tabs with a stream each would leave none for a seventh, which would not even load. The first event after
 * the return has what happened meanwhile.
 */
export function keepOpen(link: Pick<StreamLink, 'start' | 'close'>): () => void {
  let isOpen = false
  let timer: ReturnType<typeof setTimeout> | undefined
  const open = () => {
    isOpen = true
    link.start()
  }
  const close = () => {
    isOpen = false
    link.close()
  }
  const hear = () => {
    clearTimeout(timer)
    if (document.hidden && isOpen) timer = setTimeout(close, HIDDEN_MS)
    else if (!document.hidden && !isOpen) open()
  }
  // A tab that opens behind another one waits until it is seen.
  hear()
  document.addEventListener('visibilitychange', hear)
  return () => {
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', hear)
    close()
  }
}
