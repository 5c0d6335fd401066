import type { LiveRequest } from '../../../service/src/live/live-events.js'
import { Panel } from '../parts/panel.js'
import { writeAddress } from '../shell/page-address.js'
import { clockText } from './draw-chart.js'
import { type LiveModel, WAITING } from './live-model.js'
import { useHeld, useLive } from './use-live.js'

const SHOWN = 12

/** Requests of the last moments, each with a link to what decided it. */
export function RequestsPanel({ live }: { readonly live: LiveModel }) {
  useLive(live, 'hello', 'requests')
  const { held, handlers } = useHeld(live.scene.requests)
  return (
    <Panel
      title="Recent requests"
      about="A few of each second. Choose one to see what was decided, and every level that it met as it is now."
      class="live-requests"
    >
      {held.length === 0 ? (
        <p class="soft none">
          {live.scene.service === undefined ? WAITING : 'No request was decided since the service began.'}
        </p>
      ) : (
        <ul class="requests" {...handlers}>
          {held.slice(0, SHOWN).map((request) => (
            <Request key={request.id} request={request} />
          ))}
        </ul>
      )}
    </Panel>
  )
}

function Request({ request }: { readonly request: LiveRequest }) {
  const { id, atMs, allowed, degraded, deniedBy, cost, attributes } = request
  const { method, path, ...others } = attributes
  const asked = [method, path].filter((text) => text !== undefined).join(' ')
  return (
    <li>
      <a href={writeAddress('inspect', { recent: id })}>
        <span class="request-time">{clockText(atMs)}</span>
        <span class={allowed ? 'chip admitted' : 'chip denied'}>{allowed ? '✓ allowed' : '✕ denied'}</span>
        <span class="request-asked">
          {asked !== '' && <b>{asked}</b>}
          {Object.entries(others).map(([name, value]) => (
            <span key={name} class="soft">
              {`${name} `}
              <code>{value}</code>
            </span>
          ))}
          {cost !== 1 && <span class="soft">{`cost ${cost}`}</span>}
          {degraded && <span class="chip degraded">degraded</span>}
          {deniedBy.length > 0 && <span class="request-denied">{`by ${deniedBy.join(', ')}`}</span>}
        </span>
      </a>
    </li>
  )
}
