import type { Algorithm } from 'sluice/limits'
import type { ProblemFields } from './action-form.js'
import { KNOBS, type LimitDraft, withAlgorithm } from './limit-draft.js'

interface LimitKnobsProps {
  readonly label: string
  readonly draft: LimitDraft
  readonly problem: ProblemFields
  readonly onChange: (draft: LimitDraft) => void
}

const WORDS: Readonly<Record<Algorithm, string>> = {
  'token-bucket': 'token bucket',
  'leaky-bucket': 'leaky bucket',
  'fixed-window': 'fixed window',
  'sliding-window': 'sliding window',
  'sliding-log': 'sliding log',
  concurrency: 'concurrency',
  unlimited: 'unlimited',
}

/** A limit as fields: its algorithm and its numbers. */
export function LimitKnobs({ label, draft, problem, onChange }: LimitKnobsProps) {
  const put = (option: string, text: string) => onChange({ ...draft, numbers: { ...draft.numbers, [option]: text } })
  return (
    <fieldset class="knobs">
      <legend class="hidden">{label}</legend>
      <label class="field">
        <span>Algorithm</span>
        <select
          value={draft.algorithm}
          onChange={(event) => onChange(withAlgorithm(draft, event.currentTarget.value as Algorithm))}
        >
          {Object.entries(WORDS).map(([algorithm, words]) => (
            <option key={algorithm} value={algorithm}>
              {words}
            </option>
          ))}
        </select>
      </label>
      {KNOBS[draft.algorithm].map(({ option, label: name, kind, example }) => (
        <label key={option} class="field">
          <span>{name}</span>
          <input
            class="mono"
            inputMode={kind === 'whole' ? 'numeric' : 'text'}
            placeholder={example}
            value={draft.numbers[option] ?? ''}
            autocomplete="off"
            onInput={(event) => put(option, event.currentTarget.value)}
            {...problem}
          />
        </label>
      ))}
    </fieldset>
  )
}
