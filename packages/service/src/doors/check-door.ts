import type { Verdict } from 'sluice'
import type { DecisionService } from '../serve/decision-service.js'
import type { Door } from '../server/door.js'
import type { Exchange, JsonObject } from '../server/exchange.js'
import { badRequest } from '../server/problem.js'
import type { MisspeltAttributes } from './misspelt-attributes.js'
import { type CheckRequest, checkMembers, readCheck } from './read-check.js'
import { verdictText } from './verdict-text.js'

const MAX_BYTES = 64 * 1024
const MAX_BATCH_BYTES = 1024 * 1024
const MOST_CHECKS = 1_000
const BATCH_MEMBERS = ['checks']

/** `POST /v1/check` and `POST /v1/check/batch`: asks the policy. A denial is an answer, with status 200. */
export function checkDoor(service: DecisionService, misspelt: MisspeltAttributes): Door {
  return {
    name: 'check',
    routes: {
      'POST /v1/check': (exchange) =>
        exchange.readObject(MAX_BYTES, (body) => check(service, misspelt, exchange, body)),
      'POST /v1/check/batch': (exchange) =>
        exchange.readObject(MAX_BATCH_BYTES, (body) => checkBatch(service, misspelt, exchange, body)),
    },
  }
}

function check(
  { policy }: DecisionService,
  misspelt: MisspeltAttributes,
  exchange: Exchange,
  body: JsonObject,
): void | Promise<void> {
  const { attributes, cost } = readCheck(body)
  misspelt.look(attributes, policy.attributes)
  const verdict = policy.check(attributes, { cost })
  if (!(verdict instanceof Promise)) return exchange.asciiJson(verdictText(verdict))
  return verdict.then((later) => exchange.asciiJson(verdictText(later)))
}

/** Decides the requests of a batch in their order. Each stands for itself: one that is denied does not stop the others. */
function checkBatch(
  service: DecisionService,
  misspelt: MisspeltAttributes,
  exchange: Exchange,
  body: JsonObject,
): void | Promise<void> {
  checkMembers(body, BATCH_MEMBERS)
  const { checks } = body
  if (!Array.isArray(checks) || checks.length > MOST_CHECKS)
    throw badRequest(`checks must be a list of at most ${MOST_CHECKS} objects like the body of /v1/check`)
  service.recorder.doors.batch('check', checks.length)
  // Every request is read before the first is decided, so that a mistake in one takes nothing.
  const requests = checks.map((each) => readCheck(each))
  const { policy } = service
  if (service.hasCostAttributes || !requests.every(hasOnlyTexts))
    for (const { attributes } of requests) policy.levelsFor(attributes)
  for (const { attributes } of requests) misspelt.look(attributes, policy.attributes)
  const verdicts = requests.map(({ attributes, cost }) => policy.check(attributes, { cost }))
  if (!(verdicts[0] instanceof Promise)) return answerBatch(exchange, verdicts as Verdict[])
  return Promise.all(verdicts).then((later) => answerBatch(exchange, later))
}

/** The policy takes every text for an attribute, unless that is a cost: such a request needs no look before its decision. */
function hasOnlyTexts({ attributes }: CheckRequest): boolean {
  for (const name in attributes) if (typeof attributes[name as keyof object] !== 'string') return false
  return true
}

function answerBatch(exchange: Exchange, verdicts: readonly Verdict[]): void {
  exchange.asciiJson(`{"verdicts":[${verdicts.map(verdictText).join(',')}]}`)
}
