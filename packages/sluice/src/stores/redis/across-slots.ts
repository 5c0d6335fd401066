// Imported, so that a test that replaces the global timers does not stop decisions.
import { clearTimeout, setTimeout } from 'node:timers'
import type { Answer, Demand } from '../store.js'

/** The demands of a request that live in one slot, by their places in the request. */
export interface Part {
  readonly places: readonly number[]
  readonly demands: readonly Demand[]
}

/**
 * One request over several slots: all parts are asked at once, and what some took is given back if another denies. So it
 * never takes more than is allowed, but may hold units for a moment that others then do not get.
 */
export async function decideAcrossSlots(
  parts: readonly Part[],
  decide: (demands: readonly Demand[]) => Promise<Answer>,
  refund: (demands: readonly Demand[], answer: Answer) => Promise<Answer>,
  deadlineMs: number,
): Promise<Answer> {
  const endsMs = performance.now() + deadlineMs
  const answers = await Promise.all(parts.map(({ demands }) => decide(demands)))
  const allowed = answers.every((answer) => answer.allowed)
  const final = allowed
    ? answers
    : await Promise.all(
        answers.map((answer, i) =>
          answer.allowed
            ? before(endsMs, refund(parts[i].demands, answer), () => undone(parts[i].demands, answer))
            : answer,
        ),
      )
  const decisions: Answer['decisions'][number][] = []
  const takenUs: number[] = []
  for (const [i, { places }] of parts.entries()) {
    for (const [j, place] of places.entries()) {
      decisions[place] = final[i].decisions[j]
      takenUs[place] = final[i].takenUs[j]
    }
  }
  return { allowed, decisions, takenUs }
}

/** What is promised, or something else if that is not there by a time. */
function before<T>(endsMs: number, promised: Promise<T>, otherwise: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(otherwise()), Math.max(1, endsMs - performance.now()))
    promised.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** How things stand if what was taken is given back, as far as that can be known here. */
function undone(demands: readonly Demand[], answer: Answer): Answer {
  const decisions = answer.decisions.map((decision, i) => ({
    ...decision,
    remaining: decision.allowed ? Math.min(decision.quota, decision.remaining + demands[i].cost) : decision.remaining,
    delayMs: 0,
  }))
  return { ...answer, decisions }
}
