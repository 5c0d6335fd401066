import { expect, onTestFinished, test } from 'vitest'
import { http2Requests } from './http2-requests.js'
import { type RawResponse, rawRequests } from './raw-requests.js'
import { APPS, APPS_WITH_ROUTES, HTTP2_APPS } from './routed-apps.js'
import { levelsOf, limitsOf } from './routes.js'
import { spellings } from './spellings.js'

const KNOWN = [
  ...['/graphql/..', '/graphql/%2e%2e', '/api/search/%2e%2e', '/api/search/..\\..\\x', '/v1/charges;x', '/GRAPHQL'],
  ...['/v1/charges\xa0', '/v1/charges#x', 'http://h?q/v1/charges', '/%67raphql', '/v1//charges', '/api/search/'],
  ...[
    '/%68ealth',
    '/HEALTH',
    '/health/',
    '/health/..',
    '/static/../v1/charges',
    '/static\\..\\x',
    '/health;x',
    '/health',
  ],
]

/** For a longer look, with other spellings: `SPELLINGS=100000 SEED=1 npx vitest run every-spelling`. */
const COUNT = Number(process.env.SPELLINGS ?? 2_500)
const SEED = Number(process.env.SEED ?? 20_261_117)

/** The levels that a response tells of. */
function asked({ head }: RawResponse): readonly string[] {
  const policy = /^ratelimit-policy: (.*)$/im.exec(head)?.[1] ?? ''
  return [...policy.matchAll(/"(\w+)"/g)].map(([, name]) => name)
}

/** Records which handlers ran, and which of them ran without their level being asked. */
class Account {
  readonly #neededFor: (route: string) => readonly string[]
  readonly slipped: string[] = []
  readonly reached: Record<string, number> = {}

  constructor(neededFor: (route: string) => readonly string[] = levelsOf) {
    this.#neededFor = neededFor
  }

  readonly note = (target: string, response: RawResponse) => {
    if (response.status !== 200 && response.status !== 201) return
    const levels = asked(response)
    const missing = this.#neededFor(response.body).filter((level) => !levels.includes(level))
    if (missing.length > 0) this.slipped.push(`${JSON.stringify(target)} ran ${response.body} without ${missing}`)
    this.reached[response.body] = (this.reached[response.body] ?? 0) + 1
  }
}

test.each([
  ...Object.entries(APPS).map(([name, start]) => [name, start, new Account()] as const),
  ...Object.entries(APPS_WITH_ROUTES).map(
    ([name, start]) => [`${name} with limits of routes`, start, new Account(limitsOf)] as const,
  ),
])('%s: no handler runs for a spelling whose level was not asked', async (_, start, { slipped, reached, note }) => {
  const app = await start()
  onTestFinished(() => app.close())
  await rawRequests(app.port, 'POST', [...KNOWN, ...spellings(COUNT, SEED)], note)
  expect(slipped.slice(0, 20)).toEqual([])
  // Every handler is reached, and most by many spellings, or the test would show nothing.
  for (const route of ['graphql', 'search', 'charges', 'health', 'static', 'other'])
    expect(reached[route]).toBeGreaterThan(0)
  expect(reached.graphql).toBeGreaterThan(20)
})

test.each(Object.entries(HTTP2_APPS))('%s over HTTP/2: the same for targets that are no paths', async (_, start) => {
  const app = await start()
  onTestFinished(() => app.close())
  const { slipped, reached, note } = new Account()
  await http2Requests(app.port, [...KNOWN, ...spellings(500, SEED)], note)
  expect(slipped.slice(0, 20)).toEqual([])
  expect(reached.graphql).toBeGreaterThan(5)
})
