import { useState } from 'preact/hooks'
import type { Explanation } from 'sluice'
import { parseLimit } from 'sluice/limits'
import { algorithmKnobs } from '../parts/algorithm-knobs.js'
import { ask } from '../shell/ask.js'
import { ActionForm, type ChangeParts } from './action-form.js'
import { LimitKnobs } from './limit-knobs.js'
import { overrideKey } from './override-key.js'
import { type FieldProblem, problemIn } from './problem-in.js'
import { draftOf, draftWords, limitOfDraft, type TypedLimit } from './typed-limit.js'
import type { OperatorFacts } from './use-operator-facts.js'

interface OverrideFormProps extends ChangeParts {
  readonly explanation: Explanation
  readonly operator: OperatorFacts | undefined
}

const SPANS = { '10 minutes': 600_000, '1 hour': 3_600_000, '1 day': 86_400_000 } as const

type Span = keyof typeof SPANS | 'a time' | 'removed'

const ENDS: readonly Span[] = ['10 minutes', '1 hour', '1 day', 'a time', 'removed']

/** Other limits for the key, until a time or until they are removed. */
export function OverrideForm({ level, who, attributes, onChanged, explanation, operator }: OverrideFormProps) {
  const [drafts, setDrafts] = useState(() => (explanation.limits ?? []).map(({ limit }) => draftOf(limit)))
  const [span, setSpan] = useState<Span>('1 hour')
  const [time, setTime] = useState('')
  const data = operator?.policy?.policy.levels.find(({ name }) => name === level)
  const key = data === undefined ? undefined : overrideKey(data, attributes)
  const change = (at: number, draft: TypedLimit) => setDrafts(drafts.map((each, i) => (i === at ? draft : each)))
  const check = () => drafts.map(problemOfDraft).find((found) => found !== undefined)
  const act = () => {
    const limits = drafts.map(limitOfDraft)
    const until = endOf(span, time, Date.now())
    const limit = limits.length === 1 ? limits[0] : limits
    return ask('/v1/admin/overrides', { level, key, limit, ...(until !== undefined && { until }) })
  }
  return (
    <ActionForm
      verb="Override"
      consequence={`Puts in force for ${who}, ${endWords(span, time)}: ${drafts.map(draftWords).join('; ')}. It replaces what the policy says.`}
      done={`The override of ${who} is in force.`}
      check={check}
      act={act}
      onChanged={onChanged}
    >
      {(problemOf) => (
        <>
          {drafts.map((draft, i) => (
            <LimitKnobs
              // Limits of one level have no names: their place is their name.
              key={i}
              label={drafts.length === 1 ? `Limit of ${level}` : `Limit ${i + 1} of ${level}`}
              draft={draft}
              problemOf={(option) => problemOf(`${i} ${option}`)}
              onChange={(next) => change(i, next)}
            />
          ))}
          <EndFields span={span} setSpan={setSpan} time={time} setTime={setTime} />
        </>
      )}
    </ActionForm>
  )
}

interface EndFieldsProps {
  readonly span: Span
  readonly setSpan: (span: Span) => void
  readonly time: string
  readonly setTime: (time: string) => void
}

function EndFields({ span, setSpan, time, setTime }: EndFieldsProps) {
  return (
    <div class="knobs">
      <label class="field">
        <span>Until</span>
        <select value={span} onChange={(event) => setSpan(event.currentTarget.value as Span)}>
          {ENDS.map((each) => (
            <option key={each} value={each}>
              {each === 'removed' ? 'it is removed' : each === 'a time' ? 'a time…' : `in ${each}`}
            </option>
          ))}
        </select>
      </label>
      {span === 'a time' && (
        <label class="field">
          <span>Time</span>
          <input type="datetime-local" required value={time} onInput={(event) => setTime(event.currentTarget.value)} />
        </label>
      )}
    </div>
  )
}

function endOf(span: Span, time: string, nowMs: number): number | undefined {
  if (span === 'removed') return undefined
  return span === 'a time' ? Date.parse(time) : nowMs + SPANS[span]
}

function endWords(span: Span, time: string): string {
  if (span === 'removed') return 'until the override is removed'
  return span === 'a time' ? `until ${time.replace('T', ' ')}` : `for ${span}`
}

/** Fields are named by the place of their limit and by their option. */
function problemOfDraft(draft: TypedLimit, place: number): FieldProblem | undefined {
  const found = problemIn(() => parseLimit(limitOfDraft(draft)))
  if (found === undefined) return undefined
  const isOfField = algorithmKnobs(draft.algorithm).some(({ option }) => option === found.field)
  return { ...found, field: isOfField ? `${place} ${found.field}` : undefined }
}
