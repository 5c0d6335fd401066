interface ChoiceProps<Value extends string> {
  readonly label: string
  readonly values: readonly Value[]
  /** What a person reads for a value. Default: the value. */
  readonly wordsOf?: (value: Value) => string
  readonly value: Value
  readonly onChoose: (value: Value) => void
}

/** One of a few values, side by side. Arrow keys move between them. */
export function Choice<Value extends string>({ label, values, wordsOf, value, onChoose }: ChoiceProps<Value>) {
  return (
    <fieldset class="choice">
      <legend class="hidden">{label}</legend>
      {values.map((each) => (
        <label key={each} class={each === value ? 'chosen' : undefined}>
          <input type="radio" name={label} checked={each === value} onChange={() => onChoose(each)} />
          {wordsOf === undefined ? each : wordsOf(each)}
        </label>
      ))}
    </fieldset>
  )
}
