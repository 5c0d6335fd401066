import { useEffect, useRef } from 'preact/hooks'
import { InspectView } from '../inspect/inspect-view.js'
import { LabView } from '../lab/lab-view.js'
import { LiveView } from '../live/live-view.js'
import { Tour } from '../tour/tour.js'
import { TourOffer } from '../tour/tour-offer.js'
import { useTour } from '../tour/use-tour.js'
import { CommandsButton } from './commands-button.js'
import { useAddress, VIEWS, type View } from './page-address.js'
import { ThemeButton } from './theme-button.js'
import { TokenButton } from './token-button.js'

const TITLES: Readonly<Record<View, string>> = { live: 'Live', inspect: 'Inspect', lab: 'Lab' }

/** The page: a header with the views, and the view that the address names. */
export function App() {
  const { view } = useAddress()
  const tour = useTour()
  useTopOf(view)
  document.title = `${TITLES[view]} · Sluice`
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <header class="header">
        <a class="brand" href="#live" aria-label="Sluice, live view">
          <Mark />
          <span>Sluice</span>
        </a>
        <nav class="views" aria-label="Views">
          {VIEWS.map((each) => (
            <a key={each} href={`#${each}`} aria-current={each === view ? 'page' : undefined}>
              {TITLES[each]}
            </a>
          ))}
        </nav>
        <div class="tools">
          <a class="button quiet wide-only" href="/docs">
            API
          </a>
          <CommandsButton />
          <TourButton start={() => tour.go(0)} />
          <ThemeButton />
          <TokenButton />
        </div>
      </header>
      <main id="main" class="main" tabIndex={-1}>
        <h1 class="hidden">{TITLES[view]}</h1>
        <TourOffer tour={tour} />
        {view === 'live' && <LiveView />}
        {view === 'inspect' && <InspectView />}
        {view === 'lab' && <LabView />}
      </main>
      {tour.step !== undefined && <Tour tour={tour} step={tour.step} />}
    </>
  )
}

/** Another view begins at its top. A browser keeps the place where the one before was left. */
function useTopOf(view: View): void {
  const before = useRef(view)
  useEffect(() => {
    if (before.current !== view) scrollTo(0, 0)
    before.current = view
  }, [view])
}

function TourButton({ start }: { readonly start: () => void }) {
  return (
    <button type="button" class="button quiet" onClick={start}>
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" class="icon">
        <circle cx="8" cy="8" r="6" />
        <path d="M6.2 6.3a1.8 1.8 0 1 1 2.6 1.6c-.5.3-.8.6-.8 1.2M8 11.2v.3" />
      </svg>
      <span class="tool-text">Tour</span>
    </button>
  )
}

/** The sign of Sluice: a gate that lets streams through. */
function Mark() {
  return (
    <svg class="mark" viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
      <path d="M3 3v18M21 3v18" />
      <path d="M3 8h18" />
      <path class="mark-water" d="M7.5 12v9M12 12v9M16.5 12v9" />
    </svg>
  )
}
