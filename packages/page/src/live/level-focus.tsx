import { useEffect, useMemo, useRef } from 'preact/hooks'
import { Panel } from '../parts/panel.js'
import { writeAddress } from '../shell/page-address.js'
import { DECISIONS, decisionSummary, SHADOW_DECISIONS } from './decisions-panel.js'
import { LiveChart } from './live-chart.js'
import type { LiveModel } from './live-model.js'
import { type LiveSettings, shownRange } from './live-settings.js'
import { levelSeries } from './time-series.js'
import { KeyList } from './top-keys-panel.js'
import { useLive } from './use-live.js'

interface LevelFocusProps {
  readonly live: LiveModel
  readonly settings: LiveSettings
  readonly name: string
  /** The values of the address: the link back keeps them. */
  readonly values: Readonly<Record<string, string>>
}

/** One level in place of all: its chart, its limits and its keys. */
export function LevelFocus({ live, settings, name, values }: LevelFocusProps) {
  useLive(live, 'hello', 'frame', 'keys')
  const { history, frame, keys, service } = live.scene
  const place = history.levels.levels.findIndex((level) => level.name === name)
  const level = history.levels.levels[place]
  const range = shownRange(settings, frame?.atMs ?? Date.now())
  // The history changes in place, with the frame
  const series = useMemo(() => levelSeries(history, range, place), [history, frame, place, range.fromMs, range.toMs])
  const top = useRef<HTMLDivElement>(null)
  // A level is shown from its top.
  useEffect(() => top.current?.scrollIntoView({ block: 'nearest' }), [name])
  const back = (
    <a class="button" href={writeAddress('live', { ...values, level: undefined })}>
      All levels
    </a>
  )
  const ofLevel = (list: 'byLoad' | 'byDenials') => (keys?.[list] ?? []).filter((key) => key.level === name)
  return (
    <div class="live-focus" ref={top}>
      <Panel title={`Level ${name}`} tools={back} about={level?.limits.join(' · ')}>
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
      <Panel title="Its top keys">
        <h3 class="list-title">By load</h3>
        <KeyList keys={ofLevel('byLoad')} none="None of the busiest keys counts at this level." />
        <h3 class="list-title">By denials</h3>
        <KeyList keys={ofLevel('byDenials')} none="None of the most denied keys was denied by this level." />
      </Panel>
    </div>
  )
}
