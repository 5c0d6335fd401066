import type { Algorithm } from 'sluice/limits'
import type { ProblemOf } from './action-form.js'
import { ALGORITHM_WORDS, KNOBS, type TypedLimit, withAlgorithm } from './typed-limit.js'

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
          {Object.entries(ALGORITHM_WORDS).map(([algorithm, words]) => (
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
            {...problemOf(option)}
          />
        </label>
      ))}
    </fieldset>
  )
}
