import { useState } from 'preact/hooks'
import type { Explanation } from 'sluice'
import { checkRemaining, parseDuration } from 'sluice/limits'
import type { InspectAnswer } from '../../../service/src/live/inspect-answer.js'
import { Choice } from '../parts/choice.js'
import { useAdminToken } from '../shell/admin-token.js'
import { ask } from '../shell/ask.js'
import { tokenWords } from '../shell/token-button.js'
import { ActionForm, type ChangeParts } from './action-form.js'
import { OverrideForm } from './override-form.js'
import { problemIn } from './problem-in.js'
import type { OperatorFacts } from './use-operator-facts.js'

interface LevelChangesProps {
  readonly explanation: Explanation
  readonly answer: InspectAnswer
  readonly operator: OperatorFacts | undefined
  /** Does the service have an admin token? */
  readonly hasAdmin: boolean
  readonly onChanged: () => void
}

const CHANGES = ['Reset', 'Set', 'Block', 'Override'] as const

/** What an operator can change for the key of one level. Without the admin token it is shown and cannot be used. */
export function LevelChanges({ explanation, answer, operator, hasAdmin, onChanged }: LevelChangesProps) {
  const [change, setChange] = useState<(typeof CHANGES)[number]>('Reset')
  const isAdmin = useAdminToken() !== undefined
  const { level, key = '*' } = explanation
  const who = key === '*' ? `all requests in ${level}` : `${key} in ${level}`
  const { attributes } = answer
  const parts = { level, who, attributes, onChanged }
  return (
    <div class="changes">
      {!isAdmin && <p class="soft">{tokenWords(hasAdmin)} to change limits.</p>}
      <fieldset disabled={!isAdmin || answer.isMasked}>
        <legend class="hidden">Change {level}</legend>
        <Choice label={`What to change in ${level}`} values={CHANGES} value={change} onChoose={setChange} />
        {change === 'Reset' && <ResetForm {...parts} />}
        {change === 'Set' && <SetForm {...parts} explanation={explanation} />}
        {change === 'Block' && <BlockForm {...parts} />}
        {change === 'Override' && <OverrideForm {...parts} explanation={explanation} operator={operator} />}
      </fieldset>
    </div>
  )
}

function ResetForm({ level, who, attributes, onChanged }: ChangeParts) {
  return (
    <ActionForm
      verb="Reset"
      consequence={`Forgets what was taken by ${who}: the whole quota is there again, and a block ends.`}
      done={`Reset ${who}.`}
      act={() => ask('/v1/admin/reset', { attributes, levels: [level] })}
      onChanged={onChanged}
    >
      {() => <p class="soft">Gives the whole quota back, and ends a block.</p>}
    </ActionForm>
  )
}

interface SetFormProps extends ChangeParts {
  readonly explanation: Explanation
}

function SetForm({ level, who, attributes, onChanged, explanation }: SetFormProps) {
  const [text, setText] = useState('0')
  const remaining = /^\d+$/.test(text.trim()) ? Number(text) : text
  const limits = explanation.limits ?? []
  return (
    <ActionForm
      verb="Set"
      consequence={`Leaves exactly ${text} units to ${who}. A block stays.`}
      done={`Set ${who} to ${text} units.`}
      check={() => problemIn(() => limits.map(({ limit }) => checkRemaining(limit, remaining)), 'remaining')}
      act={() => ask('/v1/admin/set', { attributes, remaining, levels: [level] })}
      onChanged={onChanged}
    >
      {(problemOf) => (
        <label class="field">
          <span>Units left</span>
          <input
            inputMode="numeric"
            required
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            {...problemOf('remaining').input}
          />
          {problemOf('remaining').note}
        </label>
      )}
    </ActionForm>
  )
}

function BlockForm({ level, who, attributes, onChanged }: ChangeParts) {
  const [duration, setDuration] = useState('10m')
  return (
    <ActionForm
      verb="Block"
      consequence={`Denies ${who} everything for ${duration}, even if units are left.`}
      done={`Blocked ${who} for ${duration}.`}
      check={() => problemIn(() => parseDuration(duration), 'duration')}
      act={() => ask('/v1/admin/block', { attributes, duration, levels: [level] })}
      onChanged={onChanged}
    >
      {(problemOf) => (
        <label class="field">
          <span>For how long, such as 10m, 1h or 1d</span>
          <input
            required
            value={duration}
            onInput={(event) => setDuration(event.currentTarget.value)}
            {...problemOf('duration').input}
          />
          {problemOf('duration').note}
        </label>
      )}
    </ActionForm>
  )
}
