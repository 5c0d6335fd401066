import { useEffect, useRef, useState } from 'preact/hooks'
import type { LiveModel, Topic } from './live-model.js'

/** Draws the component again after a change of one of the topics; in a tab that is not seen, once it is seen again. */
export function useLive(live: LiveModel, ...topics: readonly Topic[]): void {
  const [, redraw] = useState(0)
  const heard = topics.join(' ')
  useEffect(() => {
    let isLate = false
    const draw = () => {
      isLate = document.hidden
      if (!isLate) redraw((count) => count + 1)
    }
    const drawIfLate = () => isLate && draw()
    const leave = live.listen(heard.split(' ') as Topic[], draw)
    document.addEventListener('visibilitychange', drawIfLate)
    return () => {
      leave()
      document.removeEventListener('visibilitychange', drawIfLate)
    }
  }, [live, heard])
}

/**
 * Holds a value while the pointer is over an element or the focus is in it, so that what a person is about to press does not move
 * away. The handlers go onto the element.
 */
export function useHeld<Value>(value: Value): { readonly held: Value; readonly handlers: HoldHandlers } {
  const kept = useRef(value)
  const reasons = useRef(new Set<string>())
  if (reasons.current.size === 0) kept.current = value
  const hold = (reason: string) => () => void reasons.current.add(reason)
  const letGo = (reason: string) => () => void reasons.current.delete(reason)
  const handlers = {
    onMouseEnter: hold('pointer'),
    onMouseLeave: letGo('pointer'),
    onFocusIn: hold('focus'),
    onFocusOut: letGo('focus'),
  }
  return { held: kept.current, handlers }
}

/** What an element needs to hold what it shows. */
export interface HoldHandlers {
  readonly onMouseEnter: () => void
  readonly onMouseLeave: () => void
  readonly onFocusIn: () => void
  readonly onFocusOut: () => void
}
