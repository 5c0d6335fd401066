import type { InspectAnswer } from '../../../service/src/live/inspect-answer.js'
import { durationText } from '../parts/number-text.js'
import { useElapsed } from '../parts/use-elapsed.js'
import { setAdminToken } from '../shell/admin-token.js'
import type { AskError } from '../shell/ask.js'
import { AnswerLevels, type AnswerLevelsProps } from './answer-levels.js'
import type { Inspection } from './use-inspection.js'
import { verdictWords } from './verdict-words.js'

interface AnswerPanelProps extends Omit<AnswerLevelsProps, 'answer'> {
  /** A cost that cannot be used is not asked about. */
  readonly isAsked: boolean
}

/** What the service answered: the verdict, the levels that match with their gauges, and the levels that do not. */
export function AnswerPanel({ isAsked, ...props }: AnswerPanelProps) {
  const { answer, error, isStale } = props.inspection
  // The last answer to this question says more than nothing, and a service that does not answer takes nothing back.
  const isShown = answer !== undefined && (error === undefined || !isStale || error.status === 0 || error.status >= 500)
  return (
    <div class="inspect-answer">
      {error !== undefined && <ErrorNote error={error} hasAnswer={isShown} />}
      {isShown && <Verdict answer={answer} inspection={props.inspection} />}
      {isShown && <AnswerLevels {...props} answer={answer} />}
      {answer === undefined && error === undefined && (
        <div class="panel empty">{isAsked ? 'Asking the service…' : 'Waits for a cost that can be used.'}</div>
      )}
    </div>
  )
}

function ErrorNote({ error, hasAnswer }: { readonly error: AskError; readonly hasAnswer: boolean }) {
  if (error.status === 404)
    return (
      <section class="panel answer-gone" role="status">
        <h2>This request is gone</h2>
        <p>
          The service keeps recent requests for a short time only. {hasAnswer && 'Below is the last answer about it. '}
          Pick another one, or type attributes.
        </p>
      </section>
    )
  return (
    <section class="panel answer-error" role="alert">
      <h2>{hasAnswer ? 'The answer below is old' : 'No answer'}</h2>
      <p>{error.message}</p>
      {error.status === 401 && (
        <button type="button" class="button forget" onClick={() => setAdminToken(undefined)}>
          Forget the token
        </button>
      )}
      {error.status === 0 && <p class="soft">The page asks again every second.</p>}
    </section>
  )
}

function Verdict({ answer, inspection }: { readonly answer: InspectAnswer; readonly inspection: Inspection }) {
  const { title, outcome, sentences } = verdictWords(answer, inspection.denyAll)
  return (
    <section class={`panel verdict ${outcome}`} aria-label="Verdict">
      <svg class="verdict-sign" viewBox="0 0 24 24" width="28" height="28" aria-hidden="true">
        {outcome === 'admitted' ? <path d="M5 12.5l4.5 4.5L19 7.5" /> : <path d="M6 6l12 12M18 6L6 18" />}
      </svg>
      <div>
        <div role="status">
          <h2>{title}</h2>
          <ul>
            {sentences.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </div>
        {!answer.allowed && <RetryText answer={answer} sinceMs={inspection.atMs} />}
      </div>
    </section>
  )
}

function RetryText({ answer, sinceMs }: { readonly answer: InspectAnswer; readonly sinceMs: number }) {
  const elapsedMs = useElapsed(sinceMs)
  if (answer.retryAfterMs === undefined || answer.retryAfterMs === null)
    return <p class="soft">Waiting does not help.</p>
  const left = Math.max(0, answer.retryAfterMs - elapsedMs)
  return (
    <p class="soft">
      {left === 0 ? 'The same request passes now.' : `The same request passes in ${durationText(left)}.`}
    </p>
  )
}
