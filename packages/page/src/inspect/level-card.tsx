import { useId, useState } from 'preact/hooks'
import type { Explanation } from 'sluice'
import type { InspectAnswer } from '../../../service/src/live/inspect-answer.js'
import { blockWords } from '../parts/limit-words.js'
import { untilText } from '../parts/time-text.js'
import { LevelChanges } from './level-changes.js'
import { LimitGauge } from './limit-gauge.js'
import { isOverrideOf, overrideKey } from './override-key.js'
import type { OperatorFacts } from './use-operator-facts.js'

interface LevelCardProps {
  readonly explanation: Explanation
  readonly answer: InspectAnswer
  /** Would the level deny this request even if it cost nothing? */
  readonly deniesAll: boolean
  /** When the answer came, by `performance.now`. */
  readonly sinceMs: number
  readonly operator: OperatorFacts | undefined
  readonly hasAdmin: boolean
  readonly isChosen: boolean
  readonly showLevel: ((level: string) => void) | undefined
  readonly onChanged: () => void
}

/** A key that has one state for all requests. */
const SHARED = '*'

/** One level that matches: its key, its limits with their gauges, and what an operator can change. */
export function LevelCard(props: LevelCardProps) {
  const { explanation, deniesAll, sinceMs, isChosen, showLevel } = props
  const { level, key = SHARED, limits = [], cost = 0, blockFor, noOverride } = explanation
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  return (
    <article class={isChosen ? 'level is-shown' : 'level'} aria-labelledby={id}>
      <div class="level-head">
        <h3 id={id}>{level}</h3>
        <Chips {...props} />
        <p class="level-key">
          {key === SHARED ? (
            'one state for all requests'
          ) : (
            <>
              key <span class="mono">{key}</span>
            </>
          )}
        </p>
        <Tools level={level} isOpen={isOpen} setOpen={setOpen} showLevel={showLevel} />
      </div>
      {limits.map(({ limit, decision }, i) => (
        <LimitGauge
          // Limits of one level have no names: their place is their name.
          key={i}
          level={level}
          limit={limit}
          decision={decision}
          cost={cost}
          deniesAll={deniesAll}
          sinceMs={sinceMs}
        />
      ))}
      {blockFor !== undefined && <p class="level-note">A key that exceeds is blocked: it {blockWords(blockFor)}.</p>}
      {noOverride !== undefined && <p class="level-note">No override applies: {noOverride}.</p>}
      {/* A store that does not answer about a limit is told there. */}
      {explanation.degraded !== undefined && limits.every(({ decision }) => decision.degraded == null) && (
        <p class="level-note degraded">
          The store did not tell the run-time overrides in time: other limits may be in force.
        </p>
      )}
      {isOpen && <LevelChanges {...props} />}
    </article>
  )
}

interface ToolsProps {
  readonly level: string
  readonly isOpen: boolean
  readonly setOpen: (isOpen: boolean) => void
  readonly showLevel: ((level: string) => void) | undefined
}

function Tools({ level, isOpen, setOpen, showLevel }: ToolsProps) {
  return (
    <div class="level-tools">
      {showLevel !== undefined && (
        <button type="button" class="link" onClick={() => showLevel(level)} aria-label={`Show ${level} in the policy`}>
          In the policy
        </button>
      )}
      <button
        type="button"
        class="link"
        aria-expanded={isOpen}
        aria-label={`${isOpen ? 'Close' : 'Change'} ${level}`}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? 'Close' : 'Change'}
      </button>
    </div>
  )
}

function Chips({ explanation, operator, answer }: LevelCardProps) {
  const { level, from = 'level', shadow, limits = [] } = explanation
  const isDenied = limits.some(({ decision }) => !decision.allowed)
  return (
    <>
      {isDenied && <span class="chip denied">{shadow === true ? 'would deny' : 'denies'}</span>}
      {shadow === true && <span class="chip waiting">shadow</span>}
      {from !== 'level' && <span class="chip degraded">{originText(from, untilMs(level, operator, answer))}</span>}
    </>
  )
}

function originText(from: 'override' | 'run-time override', until: number | undefined): string {
  return until === undefined ? from : `${from} ${untilText(until)}`
}

/** Only the list of overrides tells when one ends, and only an admin gets it. */
function untilMs(level: string, operator: OperatorFacts | undefined, answer: InspectAnswer): number | undefined {
  const data = operator?.policy?.policy.levels.find(({ name }) => name === level)
  if (operator === undefined || data === undefined) return undefined
  const key = overrideKey(data, answer.attributes)
  return operator.overrides.find((each) => isOverrideOf(each, level, key))?.untilMs
}
