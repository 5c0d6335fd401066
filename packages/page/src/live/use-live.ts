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
 * away. The handlers go onto that element.
 */
export function useHeld<Value>(value: Value): { readonly held: Value; readonly handlers: HoldHandlers } {
  const place = useRef<Element | undefined>(undefined)
  const kept = useRef(value)
  if (!isInUse(place.current)) kept.current = value
  const find = ({ currentTarget }: { readonly currentTarget: Element }) => {
    place.current = currentTarget
  }
  return { held: kept.current, handlers: { onMouseEnter: find, onFocusIn: find } }
}

interface HoldHandlers {
  readonly onMouseEnter: (event: { readonly currentTarget: Element }) => void
  readonly onFocusIn: (event: { readonly currentTarget: Element }) => void
}

/** A finger leaves no pointer behind, though the element that it touched last still counts as hovered over. */
function isInUse(place: Element | undefined): boolean {
  if (place === undefined) return false
  const isPointedAt = matchMedia('(hover: hover)').matches && place.matches(':hover')
  return isPointedAt || place.contains(document.activeElement)
}
