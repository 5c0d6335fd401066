import { useEffect } from 'preact/hooks'
import { Panel } from '../parts/panel.js'
import { changeAddress } from '../shell/page-address.js'
import { type AskedRequest, attributeValues } from './asked-request.js'
import { AttributeForm } from './attribute-form.js'
import { RecentRequests } from './recent-requests.js'
import type { Inspection } from './use-inspection.js'
import type { LiveFacts } from './use-live-facts.js'

interface RequestPanelProps {
  readonly asked: AskedRequest
  readonly live: LiveFacts
  readonly inspection: Inspection
  readonly again: () => void
}

/** The request that is asked about: typed, or one of the recent ones. */
export function RequestPanel({ asked, live, inspection, again }: RequestPanelProps) {
  const { answer } = inspection
  const pick = (recent: string) => changeAddress({ recent, cost: undefined })
  const leave = () => changeAddress({ ...keptValues(inspection, asked), recent: undefined })
  // A request that the service has forgotten can still be asked about, if the page knows its attributes.
  const isGone = asked.recent !== undefined && inspection.error?.status === 404
  useEffect(() => {
    if (isGone && keptValues(inspection, asked) !== undefined) leave()
  })
  return (
    <Panel
      title="Request"
      class="inspect-request"
      about="Nothing is taken from any limit. Type the attributes of a request, or pick one that was decided a moment ago."
      tools={
        <>
          <label class="follow">
            <input
              type="checkbox"
              checked={asked.follows}
              onChange={(event) => changeAddress({ follow: event.currentTarget.checked ? undefined : 'off' })}
            />
            <span>Follow</span>
          </label>
          <button type="button" class="button" onClick={again}>
            Ask again
          </button>
        </>
      }
    >
      <div class="request-columns">
        <AttributeForm
          asked={asked}
          known={firstKnown(live.service?.attributes ?? [])}
          answer={answer}
          again={again}
          leaveRecent={leave}
        />
        <RecentRequests requests={live.requests} chosen={asked.recent} pick={pick} />
      </div>
    </Panel>
  )
}

/** What the address says of the recent request that was answered. Masked values are no attributes to ask about. */
function keptValues({ answer, isStale }: Inspection, asked: AskedRequest) {
  if (answer === undefined || answer.isMasked || isStale) return undefined
  const cost = answer.cost === 1 ? undefined : String(answer.cost)
  return { ...attributeValues(answer.attributes, asked.attributes), cost }
}

/** What every request has comes first. */
function firstKnown(names: readonly string[]): readonly string[] {
  const first = ['method', 'path'].filter((name) => names.includes(name))
  return [...new Set([...first, ...names])]
}
