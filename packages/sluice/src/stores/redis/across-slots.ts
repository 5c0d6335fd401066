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
  giveBack: (demands: readonly Demand[], answer: Answer) => Promise<Answer>,
): Promise<Answer> {
  const answers = await Promise.all(parts.map(({ demands }) => decide(demands)))
  const allowed = answers.every((answer) => answer.allowed)
  const final = allowed
    ? answers
    : await Promise.all(answers.map((answer, i) => (answer.allowed ? giveBack(parts[i].demands, answer) : answer)))
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
