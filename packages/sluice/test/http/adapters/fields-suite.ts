import type { FastifyReply, fastify as fastify5 } from 'fastify'
import { fixedWindow } from 'sluice'
import { rateLimit } from 'sluice/fastify'
import { describe, expect, it } from 'vitest'

const OURS = { policy: '"default";q=9;w=3600', quota: /^"default";r=\d;t=\d+$/ }
const THEIRS = { policy: '"theirs";q=7;w=1', quota: '"theirs";r=6;t=1' }

/** What was told before, by Fastify's means or past it, and of one field or both. */
const before: Record<string, (reply: FastifyReply) => void> = {
  'both fields': (reply) => void reply.headers({ 'RateLimit-Policy': THEIRS.policy, RateLimit: THEIRS.quota }),
  'the policy alone': (reply) => void reply.header('ratelimit-policy', THEIRS.policy),
  'the quota alone': (reply) => void reply.header('ratelimit', THEIRS.quota),
  'both past Fastify': ({ raw }) => {
    raw.setHeader('RateLimit-Policy', THEIRS.policy)
    raw.setHeader('RateLimit', THEIRS.quota)
  },
  'the policy past Fastify': ({ raw }) => void raw.setHeader('RateLimit-Policy', THEIRS.policy),
}

/** For one version of Fastify in a process: where replies hold their fields is learnt once, and each has a place of its own. */
export function fieldsSuite(name: string, fastify: typeof fastify5): void {
  describe(`${name}: fields that somebody has set before`, () => {
    it.each(Object.entries(before))('are added to, at the first request and at every other: %s', async (what, tell) => {
      const app = fastify()
      app.addHook('onRequest', (request, reply, next) => {
        if (request.url === '/told') tell(reply)
        next()
      })
      app.register(rateLimit({ limit: fixedWindow({ quota: 9, window: '1h' }) }))
      for (const url of ['/told', '/plain']) app.get(url, async () => 'hello')
      // Where a reply holds its fields is learnt from the first that has none before.
      for (const url of ['/told', '/plain', '/told', '/plain', '/plain', '/told']) {
        const { headers } = await app.inject(url)
        const [policies, quotas] = ['ratelimit-policy', 'ratelimit'].map((name) => String(headers[name]).split(', '))
        const isTold = url === '/told'
        expect(policies).toEqual(isTold && what !== 'the quota alone' ? [THEIRS.policy, OURS.policy] : [OURS.policy])
        expect(quotas.at(-1)).toMatch(OURS.quota)
        const isQuotaTold = isTold && !what.startsWith('the policy')
        expect(quotas.slice(0, -1)).toEqual(isQuotaTold ? [THEIRS.quota] : [])
      }
      await app.close()
    })
  })
}
