import { useId } from 'preact/hooks'
import type { DraftProblem, Knob } from '../settings/draft.js'
import {
  type Amount,
  SLIDER_STEPS,
  type SliderScale,
  sliderStep,
  sliderValue,
  splitDuration,
  splitRate,
} from './slider-scale.js'

interface KnobFieldProps {
  readonly knob: Knob
  readonly value: string
  readonly problem: DraftProblem | undefined
  readonly onChange: (value: string) => void
}

const UNITS: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  rate: [
    ['/ms', 'per ms'],
    ['/s', 'per s'],
    ['/m', 'per min'],
    ['/h', 'per h'],
  ],
  duration: [
    ['ms', 'ms'],
    ['s', 's'],
    ['m', 'min'],
    ['h', 'h'],
  ],
}

const CHOICE_WORDS: Readonly<Record<string, string>> = {
  epoch: 'on the clock',
  first: 'with the first request',
}

/** A paste of so many characters does not go the way of typing. */
const LONG_PASTE = 2_000

/** A value that a person sets: a box, its unit, a slider, and what is wrong with it. */
export function KnobField({ knob, value, problem, onChange }: KnobFieldProps) {
  const id = useId()
  const isWrong = problem !== undefined && problem.knob === knob.name
  const common = { 'aria-invalid': isWrong, 'aria-describedby': isWrong ? `${id}-problem` : undefined }
  return (
    <div class={isWrong ? 'knob wrong' : 'knob'}>
      <label for={id}>
        {knob.label}
        {knob.unit !== undefined && <span class="knob-unit"> {knob.unit}</span>}
      </label>
      {knob.form === 'choice' && (
        <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)} {...common}>
          {knob.choices?.map((each) => (
            <option key={each} value={each}>
              {CHOICE_WORDS[each] ?? each}
            </option>
          ))}
        </select>
      )}
      {knob.form === 'text' && <LinesKnob id={id} knob={knob} value={value} onChange={onChange} common={common} />}
      {(knob.form === 'count' || knob.form === 'rate' || knob.form === 'duration') && (
        <NumberKnob id={id} knob={knob} value={value} onChange={onChange} common={common} />
      )}
      {isWrong && (
        <p class="problem small" id={`${id}-problem`}>
          {problem.message}
        </p>
      )}
    </div>
  )
}

interface InputProps {
  readonly id: string
  readonly knob: Knob
  readonly value: string
  readonly onChange: (value: string) => void
  readonly common: object
}

function LinesKnob({ id, knob, value, onChange, common }: InputProps) {
  const isTrace = knob.name === 'trace'
  return (
    <textarea
      id={id}
      value={value}
      rows={isTrace ? 6 : 2}
      wrap={isTrace ? 'off' : 'soft'}
      spellcheck={false}
      placeholder={isTrace ? '2026-11-19T01:02:03.250Z\n2026-11-19T01:02:03.900Z' : undefined}
      onInput={(event) => onChange(event.currentTarget.value)}
      onPaste={(event) => pasteLines(event, onChange)}
      {...common}
    />
  )
}

function NumberKnob({ id, knob, value, onChange, common }: InputProps) {
  const { amount, unit } = amountOf(knob, value)
  const isWhole = knob.form === 'count'
  const scale: SliderScale = { least: knob.least ?? 1, most: knob.most ?? 10_000, isWhole }
  const units = isWhole ? [] : unitsWith(UNITS[knob.form], unit)
  const step = (by: number) => {
    const next = Math.max(0, Number(amount) + by)
    if (Number.isFinite(next)) onChange(`${Number(next.toPrecision(12))}${unit}`)
  }
  return (
    <>
      <div class="knob-box">
        <input
          id={id}
          type="text"
          inputMode="decimal"
          autocomplete="off"
          value={amount}
          onInput={(event) => onChange(`${event.currentTarget.value}${unit}`)}
          onKeyDown={(event) => {
            if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return
            event.preventDefault()
            step(event.key === 'ArrowUp' ? 1 : -1)
          }}
          {...common}
        />
        {units.length > 0 && (
          <select
            aria-label={`Unit of ${knob.label}`}
            value={unit}
            onChange={(event) => onChange(`${amount}${event.currentTarget.value}`)}
          >
            {units.map(([each, words]) => (
              <option key={each} value={each}>
                {words}
              </option>
            ))}
          </select>
        )}
      </div>
      <input
        type="range"
        class="slider"
        aria-label={`${knob.label}, slider`}
        aria-valuetext={value}
        min={0}
        max={SLIDER_STEPS}
        value={sliderStep(Number(amount), scale)}
        onInput={(event) => onChange(`${sliderValue(Number(event.currentTarget.value), scale)}${unit}`)}
      />
    </>
  )
}

/** A browser takes seconds to paste thousands of lines as if they were typed; this sets them at once. */
function pasteLines(event: ClipboardEvent, onChange: (value: string) => void): void {
  const text = event.clipboardData?.getData('text/plain') ?? ''
  const area = event.currentTarget as HTMLTextAreaElement
  if (text.length < LONG_PASTE) return
  event.preventDefault()
  area.setRangeText(text, area.selectionStart, area.selectionEnd, 'end')
  onChange(area.value)
}

function amountOf({ form }: Knob, value: string): Amount {
  if (form === 'rate') return splitRate(value)
  return form === 'duration' ? splitDuration(value) : { amount: value, unit: '' }
}

/** The usual units, and the one that a link has brought, such as `/250ms`. */
function unitsWith(
  usual: readonly (readonly [string, string])[],
  unit: string,
): readonly (readonly [string, string])[] {
  return usual.some(([each]) => each === unit) ? usual : [[unit, unit === '' ? 'no unit' : unit], ...usual]
}
