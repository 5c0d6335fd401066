import { useEffect, useState } from 'preact/hooks'
import type { Box } from './tour-place.js'
import type { TourPlace, TourStep } from './tour-steps.js'

/** A place that was found, and where it is in the window. */
export interface TourTarget {
  readonly place: TourPlace
  /** Absent if none of the places is on the page. */
  readonly box: Box | undefined
}

/** The view of a step is drawn, and may wait for the service. */
const LONGEST_WAIT_MS = 1_500
const EVERY_MS = 100

/**
 * Finds the place of a step, scrolls to it once, and follows it: what is live grows and moves. `undefined` while it is looked for.
 */
export function useTourTarget(step: TourStep): TourTarget | undefined {
  const [target, setTarget] = useState<TourTarget>()
  useEffect(() => {
    setTarget(undefined)
    const beganMs = performance.now()
    let shown: Element | undefined
    const look = () => {
      const isLate = performance.now() - beganMs > LONGEST_WAIT_MS
      const found = findPlace(step, isLate)
      if (found === undefined) {
        if (isLate) setTarget({ place: step.places[0], box: undefined })
        return
      }
      const { place, element } = found
      if (element !== shown) scrollTo(element)
      shown = element
      const { left, top, width, height } = element.getBoundingClientRect()
      setTarget((before) =>
        isSame(before, place, top, left, width, height) ? before : { place, box: { left, top, width, height } },
      )
    }
    look()
    const timer = setInterval(look, EVERY_MS)
    addEventListener('scroll', look, { passive: true })
    addEventListener('resize', look)
    return () => {
      clearInterval(timer)
      removeEventListener('scroll', look)
      removeEventListener('resize', look)
    }
  }, [step])
  return target
}

/** The first place counts as long as it may still appear. */
function findPlace({ places }: TourStep, isLate: boolean) {
  for (const place of isLate ? places : places.slice(0, 1)) {
    const element = document.querySelector(place.selector)
    if (element !== null) return { place, element }
  }
  return undefined
}

function isSame(before: TourTarget | undefined, place: TourPlace, ...box: readonly number[]): boolean {
  if (before?.place !== place || before.box === undefined) return false
  const { top, left, width, height } = before.box
  return [top, left, width, height].every((each, i) => each === box[i])
}

function scrollTo(element: Element): void {
  const { height } = element.getBoundingClientRect()
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches
  // Below what is high there is room for the popover only if it stands at the top.
  const block = height > innerHeight / 3 ? 'start' : 'center'
  element.scrollIntoView({ block, behavior: isStill ? 'auto' : 'smooth' })
}
