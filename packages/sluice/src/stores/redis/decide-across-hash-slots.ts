// Imported, so that a test that replaces the global timers does not stop decisions.
import { clearTimeout, setTimeout } from 'node:timers'
import type { Answer, Demand } from '../store.js'

/** The demands of a request in one hash slot, and their places in the request. */
export interface Part {
  readonly places: readonly number[]
  readonly demands: readonly Demand[]
}

/**
 * Decides one request over several hash slots: asks all parts at once, and gives back what some took if another denies.
 * So a request never takes more than is allowed, but may hold units for a round trip that other requests then do not get.
 */
export async function decideAcrossHashSlots(
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

/** Resolves as the promise does, or with `otherwise()` if the promise is still open at `endsMs`. */
function before<T>(endsMs: number, promised: Promise<T>, otherwise: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(otherwise()), Math.max(1, endsMs - performance.now()))
    promised.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** The answer as it is once the units are given back, as far as this process can tell. */
function undone(demands: readonly Demand[], answer: Answer): Answer {
  const decisions = answer.decisions.map((decision, i) => ({
    ...decision,
    remaining: decision.allowed ? Math.min(decision.quota, decision.remaining + demands[i].cost) : decision.remaining,
    delayMs: 0,
  }))
  return { ...answer, decisions }
}
