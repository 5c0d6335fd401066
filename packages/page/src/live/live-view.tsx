import { useEffect, useMemo } from 'preact/hooks'
import { setTokenRefused, useAdminToken } from '../shell/admin-token.js'
import { tokenFields } from '../shell/ask.js'
import { useAddress } from '../shell/page-address.js'
import { DecisionsPanel } from './decisions-panel.js'
import { FiguresStrip } from './figures-strip.js'
import { keepOpen } from './keep-open.js'
import { LatencyPanel } from './latency-panel.js'
import { LevelFocus } from './level-focus.js'
import { LevelsPanel } from './levels-panel.js'
import { LiveBar, togglePause } from './live-bar.js'
import { LiveModel } from './live-model.js'
import { LiveNotices } from './live-notices.js'
import { readLiveSettings, zoomTo } from './live-settings.js'
import { NoTraffic } from './no-traffic.js'
import { ProcessPanel } from './process-panel.js'
import { RequestsPanel } from './requests-panel.js'
import { StorePanel } from './store-panel.js'
import { StreamLink } from './stream-link.js'
import { TopKeysPanel } from './top-keys-panel.js'

/** What the service does now, and what it did in the last hour. The stream is open as long as the view is. */
export function LiveView() {
  const { values } = useAddress()
  const settings = readLiveSettings(values)
  const token = useAdminToken()
  const live = useMemo(() => new LiveModel(), [])
  const link = useMemo(() => linkOf(live), [live])
  // Another token shows other keys.
  useEffect(() => {
    live.forgetKeys()
    return keepOpen(link)
  }, [live, link, token])
  useEffect(() => live.setPaused(settings.isPaused), [live, settings.isPaused])
  useViewKeys(settings.isPaused)
  return (
    <div class="live">
      <LiveBar live={live} settings={settings} />
      <LiveNotices live={live} retry={() => link.start()} />
      <NoTraffic live={live} />
      <FiguresStrip live={live} />
      {settings.level === undefined ? (
        <div class="live-charts">
          <DecisionsPanel live={live} settings={settings} />
          <LatencyPanel live={live} settings={settings} />
        </div>
      ) : (
        <LevelFocus live={live} settings={settings} name={settings.level} values={values} />
      )}
      <div class="live-columns">
        <div class="live-column">
          <LevelsPanel live={live} settings={settings} values={values} />
          <RequestsPanel live={live} />
        </div>
        <div class="live-column">
          <TopKeysPanel live={live} />
          <StorePanel live={live} />
          <ProcessPanel live={live} />
        </div>
      </div>
    </div>
  )
}

function linkOf(live: LiveModel): StreamLink {
  return new StreamLink({
    fields: tokenFields,
    onEvent: (event) => live.take(event),
    onState: (state) => {
      if (state.kind === 'live' || state.kind === 'refused') setTokenRefused(state.kind === 'refused')
      live.setLink(state)
    },
  })
}

/** Space pauses and Escape zooms out, wherever the focus is, if it is not in something that has a use for the key. */
function useViewKeys(isPaused: boolean): void {
  useEffect(() => {
    const hear = (event: KeyboardEvent) => {
      const { target, key } = event
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if (!(target instanceof Element) || target.closest('input, textarea, select, dialog') !== null) return
      if (key === 'Escape') zoomTo(undefined)
      if (key !== ' ' || target.closest('button, a, summary') !== null) return
      event.preventDefault()
      togglePause(isPaused)
    }
    addEventListener('keydown', hear)
    return () => removeEventListener('keydown', hear)
  }, [isPaused])
}
