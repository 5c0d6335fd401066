import { invalidType } from '../errors.js'
import type { Answer } from './store.js'

/** Nobody knows what a store of somebody else's says; whoever waits is to be told of it, and not the process. */
export function checkAnswer(answer: Answer): Answer {
  const { decisions, takenUs } = (answer ?? {}) as Partial<Answer>
  if (typeof decisions?.[0]?.delayMs === 'number' && typeof takenUs?.[0] === 'number') return answer
  throw invalidType('the answer of the store', 'decisions and takenUs, one for each demand', answer)
}
