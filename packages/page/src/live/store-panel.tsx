import type { LiveStoreFigure } from '../../../service/src/live/live-events.js'
import { bytesText, numberText, rateText } from '../parts/number-text.js'
import { Panel } from '../parts/panel.js'
import { type LiveModel, WAITING } from './live-model.js'
import { useLive } from './use-live.js'

/** How the store and its leases are. */
export function StorePanel({ live }: { readonly live: LiveModel }) {
  useLive(live, 'hello', 'store')
  const { store } = live.scene
  if (store === undefined)
    return (
      <Panel title="Store">
        <p class="soft none">{WAITING}</p>
      </Panel>
    )
  const isWell = store.state === 'well'
  return (
    <Panel
      title="Store"
      tools={<span class={isWell ? 'chip admitted' : 'chip degraded'}>{isWell ? '✓ well' : '! does not answer'}</span>}
      class="live-store"
    >
      <p class="store-text">{store.text}</p>
      <Figures figures={store.figures} />
      {store.leases !== undefined && (
        <>
          <h3 class="list-title">Leases</h3>
          <Figures figures={store.leases} />
        </>
      )}
    </Panel>
  )
}

function Figures({ figures }: { readonly figures: readonly LiveStoreFigure[] }) {
  return (
    <dl class="facts">
      {figures.map((figure) => (
        <div key={figure.name}>
          <dt>{figure.name}</dt>
          <dd>{storeFigureText(figure)}</dd>
        </div>
      ))}
    </dl>
  )
}

/** `1.8 MB`, `340/s`, `12 units`, `12,840`. */
export function storeFigureText({ value, unit }: LiveStoreFigure): string {
  if (unit === 'bytes') return bytesText(value)
  if (unit === '/s') return rateText(value)
  return unit === '' ? numberText(value) : `${numberText(value)} ${unit}`
}
