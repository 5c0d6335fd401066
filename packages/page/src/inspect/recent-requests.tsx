import { useId, useState } from 'preact/hooks'
import type { LiveRequest } from '../../../service/src/live/live-events.js'
import { useHeld } from '../live/use-live.js'
import { Choice } from '../parts/choice.js'
import { timeText } from '../parts/time-text.js'

interface RecentRequestsProps {
  /** The newest first. */
  readonly requests: readonly LiveRequest[]
  readonly chosen: string | undefined
  readonly pick: (id: string) => void
}

const MOST_SHOWN = 30
const KINDS = ['all', 'denied'] as const
const WORDS = { all: 'All', denied: 'Denied' }

/** The requests that were decided last, to pick one. The list holds still while the pointer or the focus is on it. */
export function RecentRequests({ requests, chosen, pick }: RecentRequestsProps) {
  const id = useId()
  const [kind, setKind] = useState<(typeof KINDS)[number]>('all')
  const { held, handlers } = useHeld(requests)
  const shown = held.filter(({ allowed }) => kind === 'all' || !allowed).slice(0, MOST_SHOWN)
  return (
    <div class="recents">
      <div class="spread">
        <h3 id={id}>Recent requests</h3>
        <Choice
          label="Which recent requests"
          values={KINDS}
          wordsOf={(each) => WORDS[each]}
          value={kind}
          onChoose={setKind}
        />
      </div>
      {shown.length === 0 ? (
        <p class="soft small">
          {kind === 'denied' && requests.length > 0
            ? 'None of them was denied.'
            : 'None yet. Requests appear here a moment after the service decided them.'}
        </p>
      ) : (
        <ul aria-labelledby={id} {...handlers}>
          {shown.map((request) => (
            <li key={request.id}>
              <button
                type="button"
                class="recent"
                aria-pressed={request.id === chosen}
                onClick={() => pick(request.id)}
              >
                <span class={request.allowed ? 'recent-outcome admitted' : 'recent-outcome denied'}>
                  {request.allowed ? 'allowed' : 'denied'}
                </span>
                <span class="recent-text mono">{requestWords(request)}</span>
                <span class="recent-time">{timeText(request.atMs)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** `POST /v1/charges merchant=acct_1`. */
function requestWords({ attributes, cost }: LiveRequest): string {
  const { method, path, ...others } = attributes
  const pairs = Object.entries(others).map(([name, value]) => `${name}=${value}`)
  const words = [method, path, ...pairs].filter((word) => word !== undefined)
  if (cost !== 1) words.push(`cost ${cost}`)
  return words.length === 0 ? 'no attributes' : words.join(' ')
}
