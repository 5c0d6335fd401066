import { within } from '../deadline.js'
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
  let answers = await Promise.all(parts.map(({ demands }) => decide(demands)))
  const allowed = answers.every((answer) => answer.allowed)
  if (!allowed) {
    const leftMs = Math.max(1, endsMs - performance.now())
    const refunded = answers.map((answer, i) => {
      const { demands } = parts[i]
      return answer.allowed ? within(leftMs, refund(demands, answer), () => undone(demands, answer)) : answer
    })
    answers = await Promise.all(refunded)
  }
  return joined(parts, answers, allowed)
}

/** Asks all parts of a request over several hash slots what they would decide. Nothing is taken. */
export async function peekAcrossHashSlots(
  parts: readonly Part[],
  peek: (demands: readonly Demand[]) => Promise<Answer>,
): Promise<Answer> {
  const answers = await Promise.all(parts.map(({ demands }) => peek(demands)))
  return joined(
    parts,
    answers,
    answers.every((answer) => answer.allowed),
  )
}

/** One answer from those of all parts. */
function joined(parts: readonly Part[], answers: readonly Answer[], allowed: boolean): Answer {
  const decisions: Answer['decisions'][number][] = []
  const takenUs: number[] = []
  for (const [i, { places }] of parts.entries()) {
    for (const [j, place] of places.entries()) {
      decisions[place] = answers[i].decisions[j]
      takenUs[place] = answers[i].takenUs[j]
    }
  }
  return { allowed, decisions, takenUs }
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
