import { useEffect, useState } from 'preact/hooks'
import { Choice } from '../parts/choice.js'
import { changeAddress } from '../shell/page-address.js'
import { clockText } from './draw-chart.js'
import type { LiveModel } from './live-model.js'
import { type LiveSettings, scaledRange, shownRange, WINDOWS, zoomTo } from './live-settings.js'
import type { LinkState } from './stream-link.js'
import { useLive } from './use-live.js'

/** How the connection is, and which time is shown. */
export function LiveBar({ live, settings }: { readonly live: LiveModel; readonly settings: LiveSettings }) {
  const { zoom, window, isPaused } = settings
  const zoomBy = (factor: number) => {
    const range = shownRange(settings, live.scene)
    // Closer to what is new: that is what a person zooms in on.
    zoomTo(scaledRange(range, factor, zoom === undefined ? range.toMs : (range.fromMs + range.toMs) / 2))
  }
  return (
    <div class="live-bar spread">
      <LinkText live={live} isPaused={isPaused} />
      <div class="row">
        {zoom === undefined ? (
          <Choice
            label="Window"
            values={WINDOWS}
            value={window}
            onChoose={(each) => changeAddress({ window: each, zoom: undefined })}
          />
        ) : (
          <button type="button" class="button" onClick={() => zoomTo(undefined)} title="Escape does the same">
            {`${clockText(zoom.fromMs)} – ${clockText(zoom.toMs)}`}
            <span aria-hidden="true">✕</span>
            <span class="hidden">Zoom out to the window</span>
          </button>
        )}
        <span class="row tight">
          <button type="button" class="button square" aria-label="Zoom in" onClick={() => zoomBy(0.5)}>
            +
          </button>
          <button type="button" class="button square" aria-label="Zoom out" onClick={() => zoomBy(2)}>
            −
          </button>
        </span>
        <button
          type="button"
          class={isPaused ? 'button primary pause' : 'button pause'}
          aria-keyshortcuts="Space"
          title="Space does the same"
          onClick={() => togglePause(isPaused)}
        >
          <svg class="icon" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
            {isPaused ? (
              <path class="filled" d="M2 1l9 5-9 5z" />
            ) : (
              <path class="filled" d="M2 1h3v10H2zM7 1h3v10H7z" />
            )}
          </svg>
          {isPaused ? 'Resume' : 'Pause'}
        </button>
      </div>
    </div>
  )
}

/** The address keeps the pause. */
export function togglePause(isPaused: boolean): void {
  changeAddress({ paused: isPaused ? undefined : 'yes' })
}

function LinkText({ live, isPaused }: { readonly live: LiveModel; readonly isPaused: boolean }) {
  useLive(live, 'link', 'frame')
  const { link, scene } = live
  const seconds = useSecondsUntil(link.kind === 'lost' ? link.retryAtMs : undefined)
  const isLive = link.kind === 'live'
  const at = scene.frame === undefined ? '' : clockText(scene.frame.atMs)
  return (
    <p class={`live-link ${isPaused && isLive ? 'paused' : link.kind}`}>
      <span class="live-link-dot" aria-hidden="true" />
      {/* Only the state is read aloud: the clock beside it changes every second. */}
      <span role="status">{isPaused && isLive ? 'Paused' : WORDS[link.kind]}</span>
      <span class="soft">{link.kind === 'lost' ? retryText(seconds) : at}</span>
    </p>
  )
}

const WORDS: Readonly<Record<LinkState['kind'], string>> = {
  connecting: 'Connecting',
  live: 'Live',
  lost: 'Not connected',
  refused: 'Token refused',
}

function retryText(seconds: number): string {
  return seconds === 0 ? 'trying again now' : `trying again in ${seconds} s`
}

/** Counts down once a second. */
function useSecondsUntil(atMs: number | undefined): number {
  const [nowMs, setNowMs] = useState(Date.now)
  useEffect(() => {
    if (atMs === undefined) return undefined
    setNowMs(Date.now())
    const timer = setInterval(() => setNowMs(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [atMs])
  return atMs === undefined ? 0 : Math.max(0, Math.ceil((atMs - nowMs) / 1_000))
}
