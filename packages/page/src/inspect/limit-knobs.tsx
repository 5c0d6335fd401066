import type { Algorithm } from 'sluice/limits'
import { ALGORITHM_KNOBS } from '../parts/algorithm-knobs.js'
import { algorithmWords } from '../parts/limit-words.js'
import type { ProblemOf } from './action-form.js'
import { type TypedLimit, withAlgorithm } from './typed-limit.js'

interface LimitKnobsProps {
  readonly label: string
  readonly draft: TypedLimit
  readonly problemOf: ProblemOf
  readonly onChange: (draft: TypedLimit) => void
}

/** A limit as fields: its algorithm and its numbers. */
export function LimitKnobs({ label, draft, problemOf, onChange }: LimitKnobsProps) {
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
          {Object.keys(ALGORITHM_KNOBS).map((algorithm) => (
            <option key={algorithm} value={algorithm}>
              {algorithmWords(algorithm)}
            </option>
          ))}
        </select>
      </label>
      {ALGORITHM_KNOBS[draft.algorithm].map(({ option, label: name, form, example }) => (
        <label key={option} class="field">
          <span>{name}</span>
          <input
            class="mono"
            inputMode={form === 'count' ? 'numeric' : 'text'}
            placeholder={example}
            value={draft.numbers[option] ?? ''}
            autocomplete="off"
            onInput={(event) => put(option, event.currentTarget.value)}
            {...problemOf(option)}
          />
        </label>
      ))}
    </fieldset>
  )
}
