import type { Algorithm } from 'sluice/limits'
import { ALGORITHMS, algorithmKnobs } from '../parts/algorithm-knobs.js'
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
          {ALGORITHMS.map((algorithm) => (
            <option key={algorithm} value={algorithm}>
              {algorithmWords(algorithm)}
            </option>
          ))}
        </select>
      </label>
      {algorithmKnobs(draft.algorithm).map(({ option, label: name, form, example }) => (
        <label key={option} class="field">
          <span>{name}</span>
          <input
            class="mono"
            inputMode={form === 'count' ? 'numeric' : 'text'}
            placeholder={example}
            value={draft.numbers[option] ?? ''}
            autocomplete="off"
            onInput={(event) => put(option, event.currentTarget.value)}
            {...problemOf(option).input}
          />
          {problemOf(option).note}
        </label>
      ))}
    </fieldset>
  )
}
