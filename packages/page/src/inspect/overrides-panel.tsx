import { useState } from 'preact/hooks'
import { limitWords } from '../parts/limit-words.js'
import { numberText } from '../parts/number-text.js'
import { Panel } from '../parts/panel.js'
import { untilText } from '../parts/time-text.js'
import { ask } from '../shell/ask.js'
import { ActionForm } from './action-form.js'
import { keyText } from './override-key.js'
import type { OperatorFacts, RunTimeOverride } from './use-operator-facts.js'

interface OverridesPanelProps {
  readonly operator: OperatorFacts
  readonly onChanged: () => void
}

/** The run-time overrides in force, with a button that removes each. */
export function OverridesPanel({ operator, onChanged }: OverridesPanelProps) {
  const [said, setSaid] = useState('')
  const { overrides, total } = operator
  const onRemoved = (text: string) => {
    setSaid(text)
    onChanged()
  }
  return (
    <Panel title={`Run-time overrides (${numberText(total)})`}>
      {overrides.length === 0 && <p class="soft">None is in force. “Change”, then “Override” at a level makes one.</p>}
      <ul class="overrides">
        {overrides.map((each) => (
          <OverrideRow key={`${each.level} ${keyText(each.key)}`} override={each} onRemoved={onRemoved} />
        ))}
      </ul>
      {total > overrides.length && (
        <p class="soft small">
          {numberText(total - overrides.length)} more are not shown. The command line and the admin API list them all.
        </p>
      )}
      <p class="action-done" role="status">
        {said}
      </p>
    </Panel>
  )
}

interface OverrideRowProps {
  readonly override: RunTimeOverride
  readonly onRemoved: (text: string) => void
}

function OverrideRow({ override: { level, key, limits, untilMs }, onRemoved }: OverrideRowProps) {
  const who = `${keyText(key)} in ${level}`
  return (
    <li>
      <div class="override-head">
        <strong>{level}</strong> <span class="mono">{keyText(key)}</span>
      </div>
      <p class="soft small">
        {limits.map(limitWords).join('; ')}, {untilText(untilMs)}
      </p>
      <ActionForm
        verb="Remove"
        label={`Remove the override of ${who}`}
        consequence={`Removes the override of ${who}: the limits of the policy are in force again.`}
        // The row goes away: the panel tells the result.
        done=""
        act={() => ask('/v1/admin/overrides/remove', { level, key })}
        onChanged={() => onRemoved(`The override of ${who} is removed.`)}
      />
    </li>
  )
}
