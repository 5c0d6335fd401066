import { useEffect, useMemo, useRef } from 'preact/hooks'
import { limitWords } from '../parts/limit-words.js'
import { Panel } from '../parts/panel.js'
import { writeAddress } from '../shell/page-address.js'
import { DECISIONS, decisionSummary, SHADOW_DECISIONS } from './decisions-panel.js'
import { LiveChart } from './live-chart.js'
import type { LiveModel } from './live-model.js'
import { type LiveSettings, shownRange } from './live-settings.js'
import { levelSeries } from './time-series.js'
import { KeyList } from './top-keys-panel.js'
import { useLevelKeys } from './use-level-keys.js'
import { useLive } from './use-live.js'

const SHOWN = 6

interface LevelFocusProps {
  readonly live: LiveModel
  readonly settings: LiveSettings
  readonly name: string
  /** The values of the address: the link back keeps them. */
  readonly values: Readonly<Record<string, string>>
}

/** One level in place of all: its chart, its limits and its keys. */
export function LevelFocus({ live, settings, name, values }: LevelFocusProps) {
  useLive(live, 'hello', 'frame')
  const { history, frame, service } = live.scene
  const place = history.levels.levels.findIndex((level) => level.name === name)
  const level = history.levels.levels[place]
  const keys = useLevelKeys(level?.name, settings.isPaused)
  const range = shownRange(settings, live.scene)
  // The history changes in place, with the frame
  const series = useMemo(() => levelSeries(history, range, place), [history, frame, place, range.fromMs, range.toMs])
  const top = useRef<HTMLDivElement>(null)
  useEffect(() => showFrom(top.current), [name])
  const back = (
    <a class="button" href={writeAddress('live', { ...values, level: undefined })}>
      All levels
    </a>
  )
  const listOf = (list: 'byLoad' | 'byDenials', none: string) => (
    <KeyList
      // Keys of another level are not shown until its own have come.
      keys={(keys?.[list] ?? []).filter((key) => key.level === name).slice(0, SHOWN)}
      none={keys === undefined ? 'They come in a moment.' : none}
    />
  )
  return (
    <div class="live-focus" ref={top} tabIndex={-1}>
      <Panel title={`Level ${name}`} tools={back} about={level?.limits.map(limitWords).join(' · ')}>
        {level === undefined && service !== undefined ? (
          <p class="empty">The policy in force has no level of this name. A reload may have removed it.</p>
        ) : (
          <LiveChart
            name={`Decisions of ${name} per second`}
            plan={level?.shadow ? SHADOW_DECISIONS : DECISIONS}
            series={series}
            range={range}
            summary={decisionSummary(series)}
          />
        )}
      </Panel>
      <Panel title="Its top keys" class="live-its-keys">
        <h3 class="list-title">By load</h3>
        {listOf('byLoad', 'No key was counted here in the last minutes.')}
        <h3 class="list-title">By denials</h3>
        {listOf('byDenials', 'No key was denied here in the last minutes.')}
      </Panel>
    </div>
  )
}

/** Takes the focus from the row that was chosen, and gives it to the page when the level is left: a row may be gone by then. */
function showFrom(top: HTMLElement | null): (() => void) | undefined {
  if (top === null || document.activeElement?.closest('.level-table') == null) return undefined
  top.focus()
  top.scrollIntoView({ block: 'nearest' })
  return () => {
    const isLost = document.activeElement === document.body || top.contains(document.activeElement)
    if (isLost) document.getElementById('main')?.focus({ preventScroll: true })
  }
}
