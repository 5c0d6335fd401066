/** With `hook: 'preHandler'` a limit of Fastify decides after every other preHandler of the request. */
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify as fastify5 } from 'fastify'
import { fastify as fastify4 } from 'fastify4'
import { fixedWindow } from 'sluice'
import { type FastifyOptions, rateLimit } from 'sluice/fastify'
import { parseRateLimit } from 'sluice/http'
import { afterEach, describe, expect, it } from 'vitest'
import { warningsOf } from './warnings-of.js'

declare module 'fastify' {
  interface FastifyRequest {
    account?: { readonly id: string }
  }
}

const limit = (quota: number) => fixedWindow({ quota, window: '100d' })
const byUser = {
  name: 'all',
  limit: limit(1),
  key: ({ account }: FastifyRequest) => account?.id,
  hook: 'preHandler',
} satisfies FastifyOptions

async function authenticate(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const user = request.headers['x-user']
  if (user === 'mallory') return reply.code(401).send('no')
  if (typeof user === 'string') request.account = { id: user }
  return undefined
}

describe.each([
  ['fastify 5', fastify5],
  ['fastify 4', fastify4 as unknown as typeof fastify5],
])("hook: 'preHandler', in %s", (_version, fastify) => {
  let app: FastifyInstance
  let origin: string

  afterEach(() => app.close())

  async function start(build: (app: FastifyInstance) => unknown): Promise<void> {
    app = fastify()
    await build(app)
    origin = await app.listen({ port: 0, host: '127.0.0.1' })
  }

  async function ask(user: string, path = '/', method = 'GET') {
    const response = await fetch(origin + path, { method, headers: { 'x-user': user } })
    const { quotas } = parseRateLimit(response.headers)
    return { status: response.status, names: quotas.map(({ name }) => name) }
  }

  async function statuses(users: readonly string[], path = '/', method = 'GET'): Promise<number[]> {
    const all: number[] = []
    for (const user of users) all.push((await ask(user, path, method)).status)
    return all
  }

  /** One request for each user passes, the next of the same user does not. */
  async function expectByUser(path = '/', method = 'GET', allowed = 200): Promise<void> {
    expect(await statuses(['ann', 'bob', 'ann', 'bob'], path, method)).toEqual([allowed, allowed, 429, 429])
  }

  describe.each([
    ['loaded before the routes', true],
    ['loaded after them', false],
  ])('of a plugin that is %s', (_when, isAwaited) => {
    const register = async (app: FastifyInstance, options?: FastifyOptions) => {
      const registered = app.register(rateLimit(options))
      if (isAwaited) await registered
    }

    it('decides after a hook that is added after the plugin', async () => {
      await start(async (app) => {
        await register(app, byUser)
        app.addHook('preHandler', authenticate)
        app.get('/', async () => 'hello')
      })
      await expectByUser()
    })

    it("decides after the route's own preHandler, a function or a list", async () => {
      await start(async (app) => {
        await register(app, byUser)
        app.get('/', { preHandler: [async () => undefined, authenticate] }, async () => 'hello')
        app.get('/one', { preHandler: authenticate }, async () => 'hello')
      })
      await expectByUser()
      expect(await statuses(['cid', 'cid'], '/one')).toEqual([200, 429])
    })

    it("decides after the route's own preHandler if only the route has the limit", async () => {
      await start(async (app) => {
        await register(app)
        app.get('/', { preHandler: [authenticate], config: { rateLimit: { ...byUser } } }, async () => 'hello')
        app.get('/free', { preHandler: [authenticate] }, async () => 'hello')
      })
      await expectByUser()
      expect(await statuses(['ann', 'ann'], '/free')).toEqual([200, 200])
    })

    it('decides after the hooks of a context inside that of the plugin', async () => {
      await start(async (app) => {
        await register(app, byUser)
        await app.register(async (inner) => {
          inner.addHook('preHandler', authenticate)
          inner.get('/', async () => 'hello')
        })
      })
      await expectByUser()
    })

    it('decides after hooks that a later plugin adds to each route', async () => {
      await start(async (app) => {
        await register(app, byUser)
        const forAll = async (outer: FastifyInstance) => {
          outer.addHook('onRoute', (route) => {
            route.preHandler = [...[route.preHandler ?? []].flat(), authenticate]
          })
        }
        await app.register(Object.assign(forAll, { [Symbol.for('skip-override')]: true }))
        app.get('/', async () => 'hello')
      })
      await expectByUser()
    })

    it('counts HEAD with its GET', async () => {
      await start(async (app) => {
        await register(app, byUser)
        app.get('/', { preHandler: [authenticate] }, async () => 'hello')
      })
      await expectByUser('/', 'HEAD')
      expect(await statuses(['ann', 'cid', 'cid'])).toEqual([429, 200, 429])
    })

    it('of a route replaces the limit for all with instead, and is left out with false', async () => {
      await start(async (app) => {
        await register(app, byUser)
        app.addHook('preHandler', authenticate)
        const own = { name: 'own', limit: limit(2), instead: true }
        app.get('/own', { config: { rateLimit: own } }, async () => 'hello')
        app.get('/free', { config: { rateLimit: false } }, async () => 'hello')
      })
      expect(await ask('ann', '/own')).toEqual({ status: 200, names: ['own'] })
      expect(await statuses(['ann', 'bob', 'ann'], '/own')).toEqual([200, 200, 429])
      expect(await statuses(['ann', 'ann'], '/free')).toEqual([200, 200])
    })
  })

  it('decides first by the plugin that was registered first, and then by the limit of the route', async () => {
    await start((app) => {
      app.register(rateLimit({ ...byUser, limit: limit(9) }))
      app.register(rateLimit({ ...byUser, name: 'more', limit: limit(9) }))
      const own = { ...byUser, name: 'own' }
      app.get('/', { preHandler: [authenticate], config: { rateLimit: own } }, async () => 'hello')
    })
    expect(await ask('ann')).toEqual({ status: 200, names: ['all', 'own', 'more'] })
    await statuses(['bob'])
    expect(await statuses(['ann', 'bob', 'cid'])).toEqual([429, 429, 200])
  })

  it('limits requests without a route, after the hooks of the not-found handler', async () => {
    await start((app) => {
      app.register(rateLimit(byUser))
      app.setNotFoundHandler({ preHandler: authenticate as never }, (_request, reply) => reply.code(404).send('none'))
    })
    await expectByUser('/nothing', 'GET', 404)
  })

  it('decides once on a request that a handler sends on to the not-found handler', async () => {
    const warnings = await warningsOf(async () => {
      await start((app) => {
        app.register(rateLimit({ ...byUser, limit: limit(2) }))
        app.get('/', { preHandler: [authenticate] }, (_request, reply) => reply.callNotFound())
      })
      expect(await statuses(['ann', 'ann', 'ann'])).toEqual([404, 404, 429])
    })
    expect(warnings).toEqual([])
  })

  it('takes nothing for a request that another hook answers', async () => {
    await start((app) => {
      app.register(rateLimit(byUser))
      app.get('/', { preHandler: [authenticate] }, async () => 'hello')
    })
    expect(await statuses(['mallory', 'mallory', 'ann'])).toEqual([401, 401, 200])
  })

  it('decides once on each of many requests that come together to a fresh route', async () => {
    await start((app) => {
      app.register(rateLimit({ ...byUser, limit: limit(5) }))
      app.get('/', { preHandler: [authenticate] }, async () => 'hello')
    })
    const all = await Promise.all(Array.from({ length: 8 }, () => ask('ann')))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(5)
  })
})

describe("hook: 'preHandler'", () => {
  it('decides in its place and warns once if Fastify does not show the hooks of a route', async () => {
    const hooks = new Map<string, (request: object, reply: object, next: () => void) => void>()
    const app = { addHook: (name: string, hook: never) => hooks.set(name, hook) }
    rateLimit({ ...byUser, key: () => 'ann' })(app, {}, () => {})
    const reply = { raw: {}, getHeader: () => undefined, header: () => {}, code: () => {}, send: () => {} }
    let passed = 0
    const warnings = await warningsOf(async () => {
      for (let i = 0; i < 2; i++) hooks.get('preHandler')?.({ headers: {}, socket: {} }, reply, () => passed++)
    })
    expect(passed).toBe(1)
    expect(warnings).toEqual([['SLUICE_HOOK', expect.stringContaining('decides before hooks that are added after it')]])
  })
})
