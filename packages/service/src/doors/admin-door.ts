import type { PolicyBlockOptions, PolicySetOptions, ResetOptions } from 'sluice'
import type { Summary } from '../recorder/live-summary.js'
import type { DecisionService } from '../serve/decision-service.js'
import { unusedAttributes } from '../serve/unused-attributes.js'
import type { Door, Handler } from '../server/door.js'
import type { Exchange, JsonObject } from '../server/exchange.js'
import { badRequest } from '../server/problem.js'
import type { AdminAccess } from './admin-access.js'
import { EventStreams, eventText } from './event-streams.js'
import { type AdminAction, type OnAdminChange, overrideRoutes } from './override-routes.js'
import { policyAnswer, problemsOf } from './policy-answer.js'
import { type CheckRequest, checkMembers, readCheck } from './read-check.js'
import { readQuery, readWhole } from './read-query.js'
import { verdictText } from './verdict-text.js'

const MAX_BYTES = 64 * 1024
const MOST_KEYS = 200

/** `/v1/admin/…`: looks into the limits and changes them at run time. Every route wants the admin token. */
export function adminDoor(service: DecisionService, access: AdminAccess, onChange: OnAdminChange = () => {}): Door {
  const streams = new EventStreams()
  const withToken = (handler: Handler): Handler => {
    return (exchange) => {
      access.check(exchange)
      return handler(exchange)
    }
  }
  const action = (run: AdminAction): Handler =>
    withToken((exchange) =>
      exchange.readObject(MAX_BYTES, async (body) => exchange.json(JSON.stringify(await run(body)))),
    )
  return {
    name: 'admin',
    routes: {
      'POST /v1/admin/peek': withToken((exchange) =>
        exchange.readObject(MAX_BYTES, async (body) => exchange.json(await peek(service, body))),
      ),
      'POST /v1/admin/explain': action((body) => explain(service, body)),
      'POST /v1/admin/reset': action((body) => reset(service, body, onChange)),
      'POST /v1/admin/set': action((body) => set(service, body, onChange)),
      'POST /v1/admin/block': action((body) => block(service, body, onChange)),
      ...overrideRoutes(service, { withToken, action, onChange }),
      'GET /v1/admin/top-keys': withToken((exchange) => {
        const { limit } = readQuery(exchange.query, ['limit'])
        const most = readWhole('limit', limit, { least: 1, most: MOST_KEYS, otherwise: 20 })
        exchange.json(JSON.stringify(service.recorder.topKeys.read(most)))
      }),
      'GET /v1/admin/policy': withToken((exchange) => {
        const { policy, attributes } = service.file
        const warnings = problemsOf(service.file, service.file.warnings)
        exchange.json(
          JSON.stringify({ name: service.policy.name, attributes, policy, warnings, ...policyAnswer(service) }),
        )
      }),
      'GET /v1/admin/events': withToken((exchange) => events(service, exchange, streams)),
    },
    close: () => streams.close(),
  }
}

async function peek(service: DecisionService, body: JsonObject): Promise<string> {
  const { attributes, cost } = readCheck(body)
  matchingLevels(service, attributes, 'seen')
  return verdictText(await service.policy.peek(attributes, { cost }))
}

async function explain(service: DecisionService, body: JsonObject): Promise<object> {
  const { attributes, cost } = readCheck(body)
  const { policy } = service
  return { levels: await policy.explain(attributes, { cost }), unused: unusedAttributes(attributes, policy.attributes) }
}

async function reset(service: DecisionService, body: JsonObject, onChange: OnAdminChange): Promise<object> {
  const { attributes } = readAttributes(body, ['levels'])
  const { levels } = body
  const { policy } = service
  const options = levels === undefined ? {} : { levels }
  const matching = matchingLevels(service, attributes, 'reset')
  const done = Array.isArray(levels) ? matching.filter((name) => levels.includes(name)) : matching
  // An unknown level is an error of the policy's.
  await policy.reset(attributes, options as ResetOptions<string>)
  if (done.length === 0)
    throw badRequest(`nothing would be reset: the request matches ${matching.join(', ')}, and levels names others`)
  onChange('reset', done)
  return { reset: done }
}

async function set(service: DecisionService, body: JsonObject, onChange: OnAdminChange): Promise<object> {
  const { attributes } = readAttributes(body, ['remaining', 'levels'])
  const { remaining, levels } = body
  matchingLevels(service, attributes, 'set')
  const options = { remaining, ...(levels !== undefined && { levels }) }
  const verdict = await service.policy.set(attributes, options as PolicySetOptions<string>)
  const done = [...new Set(verdict.levels.map(({ name }) => name))]
  onChange('set', done)
  return { set: done }
}

async function block(service: DecisionService, body: JsonObject, onChange: OnAdminChange): Promise<object> {
  const { attributes } = readAttributes(body, ['duration', 'levels'])
  const { duration, levels } = body
  if (duration === undefined) throw badRequest('duration must be there, such as "10m"')
  matchingLevels(service, attributes, 'blocked')
  const options = { duration, ...(levels !== undefined && { levels }) }
  const blocked = await service.policy.block(attributes, options as PolicyBlockOptions<string>)
  onChange('block', blocked)
  return { blocked }
}

/** The levels that the request matches. Throws if there is none: the operator would believe that something was `done`. */
function matchingLevels({ policy }: DecisionService, attributes: object, done: string): readonly string[] {
  const matching = policy.levelsFor(attributes)
  if (matching.length > 0) return matching
  const [unused] = unusedAttributes(attributes, policy.attributes)
  const asked = policy.attributes.length === 0 ? 'no attribute' : policy.attributes.join(', ')
  const misspelt = unused?.didYouMean === undefined ? '' : `; did you mean ${unused.didYouMean} by ${unused.attribute}?`
  throw badRequest(`nothing would be ${done}: the request matches no level. The policy asks about ${asked}${misspelt}`)
}

/** Sends a summary a second until the client goes away or the service closes. */
function events({ recorder }: DecisionService, exchange: Exchange, streams: EventStreams): void {
  const { keys } = readQuery(exchange.query, ['keys'])
  const most = readWhole('keys', keys, { least: 0, most: MOST_KEYS, otherwise: 0 })
  let stop = () => {}
  const send = streams.begin(exchange, () => stop())
  const tell = (summary: Summary) => {
    const told = most === 0 ? summary : { ...summary, topKeys: recorder.topKeys.read(most) }
    send(eventText('summary', JSON.stringify(told)))
  }
  stop = recorder.summary.subscribe(tell)
  if (recorder.summary.latest !== undefined) tell(recorder.summary.latest)
}

/** Reads a body that has attributes, no cost, and `more` members. */
function readAttributes(body: JsonObject, more: readonly string[]): CheckRequest {
  checkMembers(body, ['attributes', ...more])
  return readCheck(body, more)
}
