import type { Answer, Awaitable, Store } from '../stores/index.js'
import { after } from '../stores/store.js'
import { type Asker, type DecidedDemand, publishAnswer, publishError } from './decision-channel.js'

/** Requests that are decided together: the demands of all, and where those of each begin. */
interface JointDemands {
  readonly requests: readonly { readonly attributes: object; readonly cost: number }[]
  readonly demands: readonly DecidedDemand[]
  readonly starts: readonly number[]
}

/** Asks the store as `decide` does, and publishes one decision of `check` for each request. */
export function decideJointlyObserved(
  store: Pick<Store, 'decide'>,
  asker: Asker,
  joint: JointDemands,
  isKnown: boolean,
): Awaitable<Answer> {
  const startMs = performance.now()
  const publish = (answer: Answer) => {
    publishEach(answer, asker, startMs, joint, isKnown)
    return answer
  }
  const fail = (error: unknown): never => {
    publishErrors(error, asker, startMs, joint)
    throw error
  }
  try {
    const answer = store.decide(joint.demands)
    return answer instanceof Promise ? answer.then(publish, fail) : after(answer, publish)
  } catch (error) {
    return fail(error)
  }
}

function publishEach(answer: Answer, asker: Asker, startMs: number, joint: JointDemands, isKnown: boolean): void {
  const { requests, demands, starts } = joint
  for (const [i, { attributes, cost }] of requests.entries()) {
    const own = demands.slice(starts[i], starts[i + 1])
    const part = { ...answer, decisions: answer.decisions.slice(starts[i], starts[i + 1]) }
    publishAnswer(part, asker, 'check', startMs, own, isKnown, attributes, cost)
  }
}

function publishErrors(
  error: unknown,
  asker: Asker,
  startMs: number,
  { requests, demands, starts }: JointDemands,
): void {
  for (const [i, { attributes, cost }] of requests.entries()) {
    publishError(asker, 'check', startMs, demands.slice(starts[i], starts[i + 1]), error, attributes, cost)
  }
}
