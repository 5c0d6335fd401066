import { useEffect, useRef } from 'preact/hooks'
import { useAdminToken } from '../shell/admin-token.js'
import { changeAddress, useAddress } from '../shell/page-address.js'
import { AnswerPanel } from './answer-panel.js'
import { costProblem, questionOf, readAskedRequest } from './asked-request.js'
import { OverridesPanel } from './overrides-panel.js'
import { PolicyPanel } from './policy-panel.js'
import { RequestPanel } from './request-panel.js'
import { useInspection } from './use-inspection.js'
import { useLiveFacts } from './use-live-facts.js'
import { useOperatorFacts } from './use-operator-facts.js'

/** The view `inspect`: how the policy applies to one request now, and what an operator can change for it. */
export function InspectView() {
  const { values } = useAddress()
  const asked = readAskedRequest(values)
  const live = useLiveFacts()
  const isAdmin = useAdminToken() !== undefined
  const hasAdmin = live.service?.hasAdmin !== false
  const question = costProblem(asked.cost) === undefined ? questionOf(asked) : undefined
  const [inspection, again] = useInspection(question, asked.follows)
  const operator = useOperatorFacts()
  const policy = useRef<HTMLDivElement>(null)
  const onChanged = () => {
    again()
    operator.reload()
  }
  useEffect(() => {
    if (live.policyReads > 0) onChanged()
  }, [live.policyReads])
  const showLevel = (level: string) => {
    changeAddress({ level })
    policy.current?.scrollIntoView({ block: 'nearest' })
  }
  return (
    <>
      <RequestPanel asked={asked} live={live} inspection={inspection} again={again} />
      <div class="inspect-columns">
        <AnswerPanel
          inspection={inspection}
          isAsked={question !== undefined}
          operator={isAdmin ? operator : undefined}
          hasAdmin={hasAdmin}
          level={asked.level}
          showLevel={isAdmin ? showLevel : undefined}
          onChanged={onChanged}
        />
        <div class="inspect-side" ref={policy}>
          <PolicyPanel operator={operator} isAdmin={isAdmin} hasAdmin={hasAdmin} level={asked.level} />
          {isAdmin && operator.policy !== undefined && <OverridesPanel operator={operator} onChanged={onChanged} />}
        </div>
      </div>
    </>
  )
}
