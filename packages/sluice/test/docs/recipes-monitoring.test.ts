import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Express } from 'express'
import type { FastifyInstance } from 'fastify'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { runExamples, sendAll, serving, statuses, times } from './page-examples.js'

const PAGE = 'recipes.md'

interface Recipe {
  readonly app?: Express | FastifyInstance
  readonly server?: Server
  readonly meters?: { forceFlush(): Promise<void>; shutdown(): Promise<void> }
}

/** Starts what a recipe makes, sends four requests, of which the fourth is denied, and lets `look` see the rest. */
async function fourRequests<T>(recipe: Recipe, look: (origin: string) => Promise<T>): Promise<T> {
  const play = async (origin: string) => {
    expect(statuses(await sendAll(origin, times(4)))).toEqual([200, 200, 200, 429])
    return look(origin)
  }
  const { app, server } = recipe
  if (app !== undefined && 'inject' in app) {
    try {
      return await play(await app.listen({ port: 0, host: '127.0.0.1' }))
    } finally {
      await app.close()
    }
  }
  const listener = (app ?? server?.listeners('request')[0]) as RequestListener
  return serving(listener, play)
}

describe('docs/recipes.md, prom-client', () => {
  test.each(['Express', 'Fastify', 'plain Node.js'])(
    '%s: decisions, shadow levels and the process in one scrape',
    async (framework) => {
      const [recipe] = await runExamples<Recipe>(PAGE, `prom-client in ${framework}`)
      const [scrape] = await fourRequests(recipe, (origin) => sendAll(`${origin}/metrics`, times(1)))
      expect(scrape.headers.get('content-type')).toContain('version=0.0.4')
      const lines = scrape.body.split('\n')
      expect(lines).toContain('sluice_decisions_total{kind="policy",name="api",outcome="allowed"} 3')
      expect(lines).toContain('sluice_decisions_total{kind="policy",name="api",outcome="denied"} 1')
      expect(lines).toContain('sluice_level_decisions_total{policy="api",level="client",outcome="denied"} 1')
      const shadow = lines.find((line) => /level="stricter",outcome="shadow_denied"/.test(line))
      expect(shadow).toMatch(/ 3$/)
      expect(lines.some((line) => line.startsWith('process_cpu_user_seconds_total'))).toBe(true)
      const names = lines.filter((line) => line.startsWith('# TYPE')).map((line) => line.split(' ')[2])
      expect(new Set(names).size).toBe(names.length)
    },
  )
})

describe('docs/recipes.md, OpenTelemetry', () => {
  afterEach(() => void vi.unstubAllEnvs())

  test.each(['Express', 'Fastify', 'plain Node.js'])(
    '%s: a collector gets decisions and shadow levels',
    async (framework) => {
      const received: string[] = []
      const collector = createServer(async (req, res) => {
        let body = ''
        for await (const chunk of req) body += chunk
        received.push(body)
        res.setHeader('content-type', 'application/json').end('{}')
      })
      await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
      vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `http://127.0.0.1:${(collector.address() as AddressInfo).port}`)
      const [recipe] = await runExamples<Recipe>(PAGE, `OpenTelemetry in ${framework}`)
      try {
        await fourRequests(recipe, async () => recipe.meters?.forceFlush())
      } finally {
        await recipe.meters?.shutdown().catch(() => {})
        collector.closeAllConnections()
        collector.close()
      }
      const points = received.flatMap(pointsOf)
      expect(points).toContainEqual([
        'sluice.decisions',
        { 'sluice.kind': 'policy', 'sluice.name': 'api', outcome: 'denied' },
        1,
      ])
      const ofLevel = {
        'sluice.kind': 'policy',
        'sluice.name': 'api',
        'sluice.level': 'stricter',
        outcome: 'shadow_denied',
      }
      expect(points).toContainEqual(['sluice.level.decisions', ofLevel, 3])
    },
  )
})

interface Otlp {
  readonly resourceMetrics: readonly {
    readonly scopeMetrics: readonly {
      readonly metrics: readonly {
        readonly name: string
        readonly sum?: { readonly dataPoints: readonly OtlpPoint[] }
      }[]
    }[]
  }[]
}

interface OtlpPoint {
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[]
  readonly asDouble?: number
  readonly asInt?: number
}

/** The points of counters in an export: name, attributes and value. */
function pointsOf(body: string): unknown[] {
  const { resourceMetrics } = JSON.parse(body) as Otlp
  const metrics = resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
  return metrics.flatMap(({ name, sum }) =>
    (sum?.dataPoints ?? []).map(({ attributes, asDouble, asInt }) => [
      name,
      Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue])),
      Number(asDouble ?? asInt),
    ]),
  )
}
