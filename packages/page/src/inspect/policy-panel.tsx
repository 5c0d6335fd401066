import { useState } from 'preact/hooks'
import { Choice } from '../parts/choice.js'
import { Panel } from '../parts/panel.js'
import { tokenWords } from '../shell/token-button.js'
import { PolicyText } from './policy-text.js'
import type { OperatorFacts } from './use-operator-facts.js'

interface PolicyPanelProps {
  readonly operator: OperatorFacts
  readonly isAdmin: boolean
  /** Does the service have an admin token? */
  readonly hasAdmin: boolean
  /** The level whose lines are marked. */
  readonly level: string | undefined
}

const TEXTS = ['in force', 'refused'] as const
const WORDS = { 'in force': 'In force', refused: 'Refused' }

/** The file of the policy: the text in force, and the text on disk if it cannot be put in force. */
export function PolicyPanel({ operator, isAdmin, hasAdmin, level }: PolicyPanelProps) {
  const [chosen, setChosen] = useState<(typeof TEXTS)[number]>()
  const { policy, error } = operator
  const { refused } = policy ?? {}
  const shown = refused === undefined ? 'in force' : (chosen ?? 'refused')
  const answer = shown === 'refused' ? refused : policy?.inForce
  return (
    <Panel
      title="Policy file"
      class="policy"
      tools={
        refused === undefined ? (
          answer !== undefined && <span class="chip">{answer.file}</span>
        ) : (
          <Choice
            label="Text of the policy"
            values={TEXTS}
            wordsOf={(each) => WORDS[each]}
            value={shown}
            onChoose={setChosen}
          />
        )
      }
    >
      {!isAdmin && <p class="soft">{`${tokenWords(hasAdmin)} to see the text of the policy.`}</p>}
      {error !== undefined && (
        <p class="problem" role="alert">
          {error}
        </p>
      )}
      {refused !== undefined && (
        <p class="policy-note problem" role="status">
          The file on disk cannot be used: it has {refused.problems.length === 1 ? 'a problem' : 'problems'}. The text
          that was good last stays in force until the file is mended.
        </p>
      )}
      {isAdmin && policy !== undefined && answer === undefined && (
        <p class="soft">The service does not tell the text of its policy.</p>
      )}
      {answer !== undefined && <PolicyText key={shown} answer={answer} level={level} />}
    </Panel>
  )
}
