import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { InspectAnswer } from '../../../service/src/live/inspect-answer.js'
import { numberText } from '../parts/number-text.js'
import { Panel } from '../parts/panel.js'
import { LevelCard } from './level-card.js'
import type { Inspection } from './use-inspection.js'
import type { OperatorFacts } from './use-operator-facts.js'

export interface AnswerLevelsProps {
  readonly answer: InspectAnswer
  readonly inspection: Inspection
  /** Absent without the admin token. */
  readonly operator: OperatorFacts | undefined
  /** Does the service have an admin token? */
  readonly hasAdmin: boolean
  /** The level whose lines of the policy are shown. */
  readonly level: string | undefined
  readonly showLevel: ((level: string) => void) | undefined
  readonly onChanged: () => void
}

/** A policy may have a thousand levels. */
const MOST_SHOWN = 40

/** The levels that match with their gauges, and the levels that do not with their reasons. */
export function AnswerLevels({
  answer,
  inspection,
  operator,
  hasAdmin,
  level,
  showLevel,
  onChanged,
}: AnswerLevelsProps) {
  const matching = answer.levels.filter(({ matches }) => matches)
  const others = answer.levels.filter(({ matches }) => !matches)
  return (
    <>
      {matching.length > 0 && (
        <Panel title={`Levels that match (${numberText(matching.length)})`}>
          <Most
            of={matching}
            show={(shown) =>
              shown.map((each) => (
                <LevelCard
                  key={each.level}
                  explanation={each}
                  answer={answer}
                  deniesAll={inspection.denyAll.has(each.level)}
                  sinceMs={inspection.atMs}
                  operator={operator}
                  hasAdmin={hasAdmin}
                  isChosen={each.level === level}
                  showLevel={showLevel}
                  onChanged={onChanged}
                />
              ))
            }
          />
        </Panel>
      )}
      {others.length > 0 && (
        <Panel title={`Levels that do not match (${numberText(others.length)})`}>
          <Most of={others} show={(shown) => <Reasons levels={shown} />} />
        </Panel>
      )}
    </>
  )
}

type Levels = InspectAnswer['levels']

interface MostProps {
  readonly of: Levels
  readonly show: (levels: Levels) => ComponentChildren
}

/** Shows the first levels, and all of them on demand. */
function Most({ of: levels, show }: MostProps) {
  const [isAll, setAll] = useState(false)
  return (
    <>
      {show(isAll ? levels : levels.slice(0, MOST_SHOWN))}
      {!isAll && levels.length > MOST_SHOWN && (
        <button type="button" class="button show-all" onClick={() => setAll(true)}>
          Show all {numberText(levels.length)}
        </button>
      )}
    </>
  )
}

function Reasons({ levels }: { readonly levels: Levels }) {
  return (
    <dl class="others">
      {levels.map(({ level, because }) => (
        <div key={level}>
          <dt>{level}</dt>
          <dd>{because ?? 'The service did not say why.'}</dd>
        </div>
      ))}
    </dl>
  )
}
