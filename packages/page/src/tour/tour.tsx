import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { tourPlace } from './tour-place.js'
import { tourSteps } from './tour-steps.js'
import type { TourState } from './use-tour.js'
import { useTourTarget } from './use-tour-target.js'

interface TourProps {
  readonly tour: TourState
  readonly step: number
}

/** One step of the tour: a popover beside its place. The page can be used meanwhile. Escape ends the tour. */
export function Tour({ tour, step }: TourProps) {
  const id = useId()
  const popover = useRef<HTMLDivElement>(null)
  const target = useTourTarget(tourSteps[step])
  const isFound = target !== undefined
  const size = useSize(popover, isFound)
  useReturnOfFocus()
  useEscape(tour.end)
  // Each step takes the focus once.
  useEffect(() => {
    if (isFound) popover.current?.focus({ preventScroll: true })
  }, [step, isFound])
  if (target === undefined) return null
  const { place, box } = target
  const page = { width: document.body.clientWidth, height: innerHeight }
  const middle = { left: page.width / 2 - size.width / 2, top: page.height / 2, width: 0, height: 0 }
  const { left, top } = tourPlace(box ?? middle, size, page)
  const isLast = step === tourSteps.length - 1
  return (
    <>
      {box !== undefined && (
        <div
          class="tour-ring"
          aria-hidden="true"
          style={{ left: `${box.left}px`, top: `${box.top}px`, width: `${box.width}px`, height: `${box.height}px` }}
        />
      )}
      <div
        class="tour"
        role="dialog"
        aria-labelledby={`${id}-title`}
        aria-describedby={`${id}-text`}
        tabIndex={-1}
        ref={popover}
        style={{ left: `${left}px`, top: `${top}px` }}
      >
        <h2 id={`${id}-title`}>{place.title}</h2>
        <p id={`${id}-text`}>{place.text}</p>
        <div class="row tour-tools">
          <span class="soft small">
            {step + 1} of {tourSteps.length}
          </span>
          {!isLast && (
            <button type="button" class="button quiet" onClick={tour.end}>
              End the tour
            </button>
          )}
          {step > 0 && (
            <button type="button" class="button" onClick={() => tour.go(step - 1)}>
              Back
            </button>
          )}
          <button type="button" class="button primary" onClick={() => tour.go(step + 1)}>
            {isLast ? 'Done' : 'Next'}
          </button>
        </div>
      </div>
    </>
  )
}

/** The size of an element that is drawn; steps differ in it. */
function useSize(element: { readonly current: HTMLElement | null }, isDrawn: boolean) {
  const [size, setSize] = useState({ width: 320, height: 180 })
  useEffect(() => {
    const { current } = element
    if (!isDrawn || current === null) return
    const observer = new ResizeObserver(() => setSize({ width: current.offsetWidth, height: current.offsetHeight }))
    observer.observe(current)
    return () => observer.disconnect()
  }, [element, isDrawn])
  return size
}

/** At the end the focus goes back to where it was, or to the content if that is gone. */
function useReturnOfFocus(): void {
  useEffect(() => {
    const before = document.activeElement
    return () => {
      const isThere = before instanceof HTMLElement && before.isConnected && before !== document.body
      const next = isThere ? before : document.getElementById('main')
      next?.focus({ preventScroll: true })
    }
  }, [])
}

function useEscape(end: () => void): void {
  const latest = useRef(end)
  latest.current = end
  useEffect(() => {
    const hear = (event: KeyboardEvent) => {
      // A dialog over the page has the key first.
      if (event.key !== 'Escape' || document.querySelector('dialog[open]') !== null) return
      event.preventDefault()
      latest.current()
    }
    addEventListener('keydown', hear, { capture: true })
    return () => removeEventListener('keydown', hear, { capture: true })
  }, [])
}
