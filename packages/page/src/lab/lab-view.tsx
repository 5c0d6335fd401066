import { settingsOf } from './articles/preset.js'
import { presetOf } from './articles/presets.js'
import { ExamplePanel } from './controls/example-panel.js'
import { LimitCard } from './controls/limit-card.js'
import { TrafficPanel } from './controls/traffic-panel.js'
import { CodePanel } from './results/code-panel.js'
import { FiguresPanel } from './results/figures-panel.js'
import { TotalsPanel } from './results/totals-panel.js'
import { DraftProblem } from './settings/draft.js'
import { MOST_LIMITS } from './settings/lab-settings.js'
import { LAB_ALGORITHMS, type LimitDraft, limitDraft } from './settings/limit-draft.js'
import { isSame, useLabResult, useLabSettings } from './settings/use-lab-settings.js'

/** The view `lab`: the algorithms side by side on the same requests. */
export function LabView() {
  const [settings, change] = useLabSettings()
  const result = useLabResult(settings)
  const { limits } = settings
  const preset = presetOf(settings)
  const isChanged = preset !== undefined && !isSame(settingsOf(preset), settings)
  const setLimits = (next: readonly LimitDraft[]) => change({ ...settings, limits: next })
  const lengthUs = result.traffic instanceof DraftProblem ? 0 : result.traffic.lengthUs
  return (
    <>
      <div class="lab-top">
        <ExamplePanel
          settings={settings}
          isReadable={!(result.traffic instanceof DraftProblem)}
          isChanged={isChanged}
          onChange={change}
        />
        <TrafficPanel settings={settings} result={result} onChange={change} />
      </div>
      <div class="limit-cards">
        {limits.map((draft, i) => (
          <LimitCard
            key={i}
            number={i + 1}
            draft={draft}
            called={preset?.limits.length === limits.length ? preset.names?.[i] : undefined}
            run={result.runs[i]}
            lengthUs={lengthUs}
            onChange={(next) => setLimits(limits.map((each, at) => (at === i ? next : each)))}
            onRemove={limits.length === 1 ? undefined : () => setLimits(limits.filter((_, at) => at !== i))}
          />
        ))}
        {limits.length < MOST_LIMITS && (
          <button type="button" class="add-limit" onClick={() => setLimits([...limits, nextLimit(limits)])}>
            Add a limit
          </button>
        )}
      </div>
      <TotalsPanel result={result} />
      {preset !== undefined && <FiguresPanel preset={preset} isChanged={isChanged} />}
      <CodePanel result={result} />
    </>
  )
}

/** The first algorithm that is not there yet, with the numbers of the last limit where it has the same. */
function nextLimit(limits: readonly LimitDraft[]): LimitDraft {
  const absent = LAB_ALGORITHMS.find((algorithm) => limits.every(({ kind }) => kind !== algorithm))
  return limitDraft(absent ?? 'token-bucket', limits.at(-1)?.values)
}
