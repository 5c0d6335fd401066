import { tourSteps } from './tour-steps.js'
import type { TourState } from './use-tour.js'

/** Offers the tour to a person who sees the page for the first time. It covers nothing, and asks once. */
export function TourOffer({ tour }: { readonly tour: TourState }) {
  if (!tour.isOffered) return null
  return (
    <aside class="tour-offer spread" aria-label="Tour">
      <p>
        <strong>New here?</strong> A tour of {tourSteps.length} steps shows what this page can do.
      </p>
      <div class="row">
        <button type="button" class="button" onClick={() => tour.go(0)}>
          Take the tour
        </button>
        <button type="button" class="button quiet" onClick={tour.end}>
          No, thanks
        </button>
      </div>
    </aside>
  )
}
