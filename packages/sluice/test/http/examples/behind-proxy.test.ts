/** The examples behind a proxy on the same machine, as most servers run. */
import { readdir } from 'node:fs/promises'
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import type { RunningApp } from '../adapters/app.js'
import { running } from '../adapters/servers.js'
import { type RunningExample, startExample } from './running-example.js'

/**
 * A reverse proxy that appends the address of its client to `X-Forwarded-For`, as nginx does with
 * `$proxy_add_x_forwarded_for`. All clients of a test connect from loopback, so each says in `X-Test-Client` which address it
 * plays; the proxy removes that field.
 */
function startProxy(origin: string): Promise<RunningApp> {
  return running(
    createServer((from, answer) => {
      const { 'x-test-client': client, 'x-forwarded-for': sent, ...headers } = from.headers
      const forwarded = [sent, client].filter((each) => each !== undefined).join(', ')
      const { method } = from
      const onward = httpRequest(origin + from.url, { method, headers: { ...headers, 'x-forwarded-for': forwarded } })
      onward.on('response', (response: IncomingMessage) => {
        answer.writeHead(response.statusCode ?? 502, response.headers)
        response.pipe(answer)
      })
      onward.on('error', () => answer.destroy())
      from.pipe(onward)
    }),
  )
}

/** The request, and the status of an admitted one if it is not 200. */
type More = RequestInit & { readonly status?: number }

/** How many requests of an address pass, of each example that limits by address. */
const EXAMPLES: [file: string, path: string, quota: number, more?: More][] = [
  ['node.mjs', '/', 5],
  ['express.mjs', '/', 10],
  ['express.mjs', '/login', 3, { method: 'POST', status: 401 }],
  ['fastify.mjs', '/search', 3],
  ['hono.mjs', '/api/time', 5],
  ['koa.mjs', '/', 5],
  ['fetch.mjs', '/', 5],
  ['nest.ts', '/search', 3],
  ['policy.mjs', '/v1/customers', 3],
  ['database.mjs', '/', 1],
  ['database.mjs', '/upgrade', 30, { method: 'POST' }],
  ['settle.mjs', '/report?rows=500', 2],
  ['graphql.mjs', '/', 1, { method: 'POST', body: '{"query":"{users(first:900){name}}"}' }],
]
/** Examples that do not look at addresses: one limits users, and one calls another API. */
const OTHERS = ['websocket.mjs', 'outbound.mjs']

describe('behind a proxy', () => {
  const stops: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  })

  it.each(EXAMPLES)(
    '%s %s counts each client of the proxy by itself, whatever it sends along',
    async (file, path, quota, { status = 200, ...init } = {}) => {
      const example: RunningExample = await startExample(file)
      stops.push(() => example.stop())
      const proxy = await startProxy(example.origin)
      stops.push(() => proxy.close())
      const statusOf = async (client: string, sent: Record<string, string> = {}) => {
        const response = await fetch(proxy.origin + path, { ...init, headers: { ...sent, 'x-test-client': client } })
        await response.arrayBuffer()
        return response.status
      }
      for (let i = 0; i < quota; i++)
        expect(await statusOf('198.51.100.1', { 'x-forwarded-for': `192.0.2.${i}` })).toBe(status)
      expect(await statusOf('198.51.100.1', { 'x-forwarded-for': '192.0.2.99' })).toBe(429)
      expect(await statusOf('198.51.100.1', { 'x-forwarded-for': '127.0.0.1', forwarded: 'for=192.0.2.99' })).toBe(429)
      expect(await statusOf('198.51.100.2')).toBe(status)
      // Two addresses of one network, and one of another.
      for (let i = 0; i < quota; i++) expect(await statusOf(`2001:db8:0:${i % 2}::1`)).toBe(status)
      expect([await statusOf('2001:db8:0:0::1'), await statusOf('2001:db8:0:1::1')]).toEqual([429, 429])
      expect(await statusOf('2001:db8:0:100::1')).toBe(status)
    },
  )

  it('every example that limits by address is tried', async () => {
    const folder = new URL('../../../../../examples/', import.meta.url)
    const files = (await readdir(folder)).filter((file) => /\.m?ts$|\.mjs$/.test(file))
    expect(new Set([...EXAMPLES.map(([file]) => file), ...OTHERS])).toEqual(new Set(files))
  })
})
