import { useState } from 'preact/hooks'
import { readAddress } from '../shell/page-address.js'
import { tourSteps } from './tour-steps.js'

const KEPT_AS = 'sluice.tour'

/** The tour as it stands. */
export interface TourState {
  /** The step that is shown, from 0; `undefined` if the tour is not under way. */
  readonly step: number | undefined
  /** Is the tour offered? Once only: a person who took it or said no is not asked again. */
  readonly isOffered: boolean
  /** Shows a step, and the view that it is about. A step behind the last one ends the tour. */
  go(step: number): void
  /** Ends the tour, or says no to it. */
  end(): void
}

export function useTour(): TourState {
  const [step, setStep] = useState<number>()
  const [isOffered, setOffered] = useState(() => !wasSeen())
  const end = () => {
    setStep(undefined)
    setOffered(false)
    keepSeen()
  }
  const go = (next: number) => {
    if (next >= tourSteps.length) return end()
    const { view } = tourSteps[next]
    if (readAddress(location.hash).view !== view) location.hash = view
    setStep(next)
    setOffered(false)
    keepSeen()
  }
  return { step, isOffered, go, end }
}

function wasSeen(): boolean {
  try {
    return localStorage.getItem(KEPT_AS) !== null
  } catch {
    // A browser that refuses storage would offer the tour each time.
    return true
  }
}

function keepSeen(): void {
  try {
    localStorage.setItem(KEPT_AS, 'seen')
  } catch {
    // It is offered no more until the page is loaded again.
  }
}
