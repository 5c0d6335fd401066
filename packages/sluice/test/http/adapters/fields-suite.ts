import type { FastifyReply, fastify as fastify5 } from 'fastify'
import { fixedWindow } from 'sluice'
import { rateLimit } from 'sluice/fastify'
import { describe, expect, it } from 'vitest'

const OURS = { policy: '"default";q=9;w=8640000', quota: /^"default";r=\d;t=\d+$/ }
const THEIRS = { policy: '"theirs";q=7;w=1', quota: '"theirs";r=6;t=1' }

/** Fields that are set before the limiter runs: by Fastify or directly on the response, one or both. */
const before: Record<string, (reply: FastifyReply) => void> = {
  'both fields': (reply) => void reply.headers({ 'RateLimit-Policy': THEIRS.policy, RateLimit: THEIRS.quota }),
  'the policy alone': (reply) => void reply.header('ratelimit-policy', THEIRS.policy),
  'the quota alone': (reply) => void reply.header('ratelimit', THEIRS.quota),
  'both directly on the response': ({ raw }) => {
    raw.setHeader('RateLimit-Policy', THEIRS.policy)
    raw.setHeader('RateLimit', THEIRS.quota)
  },
  'the policy directly on the response': ({ raw }) => void raw.setHeader('RateLimit-Policy', THEIRS.policy),
}

/** Runs for each version of Fastify. */
export function fieldsSuite(name: string, fastify: typeof fastify5): void {
  describe(`${name}: the fields of a reply`, () => {
    it.each(Object.entries(before))('are added to fields set before, at every request: %s', async (what, set) => {
      const app = fastify()
      app.addHook('onRequest', (request, reply, next) => {
        if (request.url === '/set') set(reply)
        next()
      })
      app.register(rateLimit({ limit: fixedWindow({ quota: 9, window: '100d' }) }))
      for (const url of ['/set', '/plain']) app.get(url, async () => 'hello')
      for (const url of ['/set', '/plain', '/set', '/plain', '/plain', '/set']) {
        const { headers } = await app.inject(url)
        const [policies, quotas] = ['ratelimit-policy', 'ratelimit'].map((name) => String(headers[name]).split(', '))
        const isSet = url === '/set'
        expect(policies).toEqual(isSet && what !== 'the quota alone' ? [THEIRS.policy, OURS.policy] : [OURS.policy])
        expect(quotas.at(-1)).toMatch(OURS.quota)
        const isQuotaSet = isSet && !what.startsWith('the policy')
        expect(quotas.slice(0, -1)).toEqual(isQuotaSet ? [THEIRS.quota] : [])
      }
      await app.close()
    })

    it('reach a hook that wraps reply.header, at every request', async () => {
      const app = fastify()
      const seen: string[] = []
      app.addHook('onRequest', (_request, reply, next) => {
        const { header } = reply
        reply.header = function (this: FastifyReply, name: string, value?: unknown) {
          seen.push(`${name.toLowerCase()}: ${value}`)
          return header.call(this, name, value)
        } as FastifyReply['header']
        next()
      })
      app.register(rateLimit({ limit: fixedWindow({ quota: 2, window: '100d' }) }))
      app.get('/', async () => 'hello')
      for (const remaining of [1, 0, 0]) {
        seen.length = 0
        const { headers } = await app.inject('/')
        expect(seen).toContain('ratelimit-policy: "default";q=2;w=8640000')
        expect(seen).toContain(`ratelimit: ${headers.ratelimit}`)
        expect(headers.ratelimit).toMatch(new RegExp(`^"default";r=${remaining};t=\\d+$`))
      }
      await app.close()
    })
  })
}
