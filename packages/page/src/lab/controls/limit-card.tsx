import { useId } from 'preact/hooks'
import { algorithmWords } from '../../parts/limit-words.js'
import { LimitCharts } from '../charts/limit-charts.js'
import type { Run } from '../engine/simulate.js'
import { DraftProblem } from '../settings/draft.js'
import {
  ALGORITHM_ABOUT,
  LAB_ALGORITHMS,
  type LabAlgorithm,
  type LimitDraft,
  limitDraft,
  limitKnobs,
} from '../settings/limit-draft.js'
import { KnobField } from './knob-field.js'

interface LimitCardProps {
  readonly number: number
  readonly draft: LimitDraft
  /** What the worked example calls it. */
  readonly called: string | undefined
  readonly run: Run | DraftProblem | undefined
  readonly lengthUs: number
  readonly onChange: (draft: LimitDraft) => void
  /** Absent for the last limit: there must be one. */
  readonly onRemove: (() => void) | undefined
}

/** One limit: its charts and its knobs. */
export function LimitCard({ number, draft, called, run, lengthUs, onChange, onRemove }: LimitCardProps) {
  const id = useId()
  const problem = run instanceof DraftProblem ? run : undefined
  const name = `Limit ${number}: ${algorithmWords(draft.kind)}`
  return (
    <section class="panel limit-card" aria-labelledby={`${id}-name`}>
      <div class="panel-head spread">
        <h2 class="hidden" id={`${id}-name`}>
          {name}
        </h2>
        <select
          class="title-select"
          aria-label={`Algorithm of limit ${number}`}
          value={draft.kind}
          onChange={(event) => onChange(limitDraft(event.currentTarget.value as LabAlgorithm, draft.values))}
        >
          {LAB_ALGORITHMS.map((each) => (
            <option key={each} value={each}>
              {titleOf(each)}
            </option>
          ))}
        </select>
        {onRemove !== undefined && (
          <button type="button" class="button quiet" aria-label={`Remove limit ${number}`} onClick={onRemove}>
            Remove
          </button>
        )}
      </div>
      <p class="small soft">
        {called !== undefined && <strong class="called">{called}</strong>}
        {ALGORITHM_ABOUT[draft.kind]}
      </p>
      {run === undefined || run instanceof DraftProblem ? (
        <p class="empty">
          {problem === undefined
            ? 'Waits for requests: see above what is wrong.'
            : 'Waits for a number that can be used.'}
        </p>
      ) : (
        <LimitCharts name={name} run={run} lengthUs={lengthUs} />
      )}
      <div class="knobs">
        {limitKnobs(draft.kind).map((knob) => (
          <KnobField
            key={`${draft.kind} ${knob.name}`}
            knob={knob}
            value={draft.values[knob.name]}
            problem={problem}
            onChange={(value) => onChange({ ...draft, values: { ...draft.values, [knob.name]: value } })}
          />
        ))}
      </div>
      {problem !== undefined && problem.knob === undefined && <p class="problem small">{problem.message}</p>}
    </section>
  )
}

/** `Token bucket`. */
function titleOf(algorithm: LabAlgorithm): string {
  const words = algorithmWords(algorithm)
  return `${words[0].toUpperCase()}${words.slice(1)}`
}
