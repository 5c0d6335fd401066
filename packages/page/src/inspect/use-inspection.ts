import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { InspectAnswer, InspectQuestion } from '../../../service/src/live/inspect-answer.js'
import { useAdminToken } from '../shell/admin-token.js'
import { AskError, ask } from '../shell/ask.js'

/** What the service answered last, and what came of the last question. */
export interface Inspection {
  readonly answer: InspectAnswer | undefined
  /** The levels that would deny this request even if it cost nothing: its key is blocked or in debt there. */
  readonly denyAll: ReadonlySet<string>
  /** When the answer came, by `performance.now`. */
  readonly atMs: number
  /** Why the last question was not answered. `answer` is older then. */
  readonly error: AskError | undefined
  /** Is `answer` about another question than the one that failed? */
  readonly isStale: boolean
}

const NOTHING: Inspection = { answer: undefined, denyAll: new Set(), atMs: 0, error: undefined, isStale: false }
const EVERY_MS = 1_000

/** Asks when the question changes, and every second while it `follows`. `again` asks at once. */
export function useInspection(question: InspectQuestion | undefined, follows: boolean): [Inspection, () => void] {
  const text = question === undefined ? undefined : JSON.stringify(question)
  const token = useAdminToken()
  const [inspection, setInspection] = useState(NOTHING)
  // An answer to an older question is not shown.
  const current = useRef(0)
  const answered = useRef<string | undefined>(undefined)
  const pending = useRef(0)
  // What is gone does not come back.
  const gone = useRef<string | undefined>(undefined)
  const again = useCallback(async () => {
    if (text === undefined) return
    const number = ++current.current
    pending.current++
    const next = await inspect(JSON.parse(text))
    pending.current--
    if (number !== current.current) return
    if (next.error === undefined) answered.current = text
    gone.current = next.error?.status === 404 ? text : undefined
    setInspection((before) => ({ ...before, ...next, isStale: answered.current !== text }))
  }, [text])
  // With another token the same question has another answer.
  useEffect(() => {
    void again()
  }, [again, token])
  useEffect(() => {
    if (!follows) return
    const timer = setInterval(() => {
      const isDue = pending.current === 0 && gone.current !== text
      if (isDue && document.visibilityState === 'visible') void again()
    }, EVERY_MS)
    return () => clearInterval(timer)
  }, [again, follows, text])
  return [inspection, again]
}

async function inspect(question: InspectQuestion): Promise<Partial<Inspection>> {
  try {
    const answer = await ask<InspectAnswer>('/v1/inspect', question)
    const denyAll = await levelsThatDenyAll(question, answer)
    return { answer, denyAll, atMs: performance.now(), error: undefined }
  } catch (error) {
    return {
      error: error instanceof AskError ? error : new AskError('The answer of the service could not be read.', 0),
    }
  }
}

/** Units that lack and a block look alike in a denial. A second question, about a cost of 0, tells them apart. */
async function levelsThatDenyAll(question: InspectQuestion, answer: InspectAnswer): Promise<ReadonlySet<string>> {
  const isEmpty = answer.levels.some(({ limits = [] }) => limits.some(({ decision }) => decision.remaining === 0))
  if (!isEmpty) return new Set()
  const { levels } = await ask<InspectAnswer>('/v1/inspect', { ...question, cost: 0 })
  const denying = levels.filter(
    ({ cost, limits = [] }) => cost === 0 && limits.some(({ decision }) => !decision.allowed),
  )
  return new Set(denying.map(({ level }) => level))
}
