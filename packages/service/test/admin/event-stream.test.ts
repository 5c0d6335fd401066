import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import type { RunningService } from '../../dist/serve/start-service.js'
import { DescribedService, TOKEN } from '../openapi/described-service.js'
import { serveHere } from '../recorder/serve-here.js'

const described = new DescribedService()

/** What is wrong with an event by the description of the route; an empty text if nothing is. */
function problemsOf(data: object): string {
  const { content = {} } = described.document.paths['/v1/admin/events'].get.responses[200]
  return described.problems(Object.values(content)[0].schema as object, data)
}

async function start(): Promise<RunningService> {
  const running = await serveHere({ 'admin-token': TOKEN, 'shutdown-ms': '60000' })
  onTestFinished(() => running.close())
  return running
}

/** Opens a stream. Its body is not read until the test reads it. */
async function open(url: string, query = '', method = 'GET'): Promise<IncomingMessage> {
  const sent = request(`${url}/v1/admin/events${query}`, { method, headers: { authorization: `Bearer ${TOKEN}` } })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.on('error', () => {})
  onTestFinished(() => void response.destroy())
  return response
}

/** Collects the events of a stream. */
function eventsOf(response: IncomingMessage) {
  const events: { name: string; data: Record<string, unknown> }[] = []
  let text = ''
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    const parts = text.split('\n\n')
    text = parts.pop() ?? ''
    for (const part of parts) {
      const match = /^event: (\S+)\ndata: (.+)$/.exec(part)
      if (match !== null) events.push({ name: match[1], data: JSON.parse(match[2]) })
    }
  })
  return {
    events,
    async next(count: number) {
      while (events.length < count) await once(response, 'data')
      return events[count - 1]
    },
  }
}

const check = (url: string, merchant: string) =>
  fetch(`${url}/v1/check`, { method: 'POST', body: JSON.stringify({ attributes: { merchant } }) })

it('a stream has a summary for each tick, and none of them has a key', async () => {
  const { url, service } = await start()
  const response = await open(url)
  expect(response.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
  })
  const stream = eventsOf(response)
  service.recorder.tick(Date.now())
  await stream.next(1)
  const before = stream.events.length
  await check(url, 'a-secret-merchant')
  service.recorder.tick(Date.now() + 1_000)
  const { name, data } = await stream.next(before + 1)
  expect([name, data.decisions, data.allowed]).toEqual(['summary', 1, 1])
  for (const event of stream.events) expect(problemsOf(event.data)).toBe('')
  expect(JSON.stringify(stream.events)).not.toContain('a-secret-merchant')
})

it('keys=N adds the top keys', async () => {
  const { url, service } = await start()
  await check(url, 'acct_loud')
  service.recorder.tick(Date.now())
  // A stream begins with the last summary.
  const { data } = await eventsOf(await open(url, '?keys=3')).next(1)
  expect(problemsOf(data)).toBe('')
  expect(JSON.stringify(data.topKeys)).toContain('acct_loud')
})

it('32 clients listen at most, and one that goes away makes room', async () => {
  const { url } = await start()
  const streams = await Promise.all(Array.from({ length: 32 }, () => open(url)))
  expect(streams.map(({ statusCode }) => statusCode)).toEqual(Array(32).fill(200))
  const refused = await open(url)
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '5'])
  streams[0].destroy()
  let statusCode: number | undefined = 503
  for (let i = 0; i < 1_000 && statusCode === 503; i++) statusCode = (await open(url)).statusCode
  expect(statusCode).toBe(200)
})

it('a client that does not read is dropped, and one that reads is not', async () => {
  const { url, service } = await start()
  const slow = await open(url)
  slow.pause()
  const quick = await open(url)
  const { events } = eventsOf(quick)
  let isDropped = false
  const connections = () =>
    new Promise<number>((resolve) => {
      void fetch(`${url}/metrics`)
        .then((answer) => answer.text())
        .then((text) => resolve(Number(/^sluice_http_connections (\d+)/m.exec(text)?.[1])))
    })
  const before = await connections()
  for (let i = 0; i < 40_000 && !isDropped; i++) {
    service.recorder.tick(Date.now())
    await new Promise((resolve) => setImmediate(resolve))
    if (i % 500 === 499) isDropped = (await connections()) < before
  }
  expect(isDropped).toBe(true)
  expect(quick.destroyed).toBe(false)
  expect(events.length).toBeGreaterThan(100)
}, 60_000)

it('streams end when the service shuts down, and hold it up no longer', async () => {
  const running = await start()
  const response = await open(running.url)
  const { events } = eventsOf(response)
  const ended = once(response, 'end')
  const beginMs = performance.now()
  await running.close()
  await ended
  expect(events.at(-1)).toEqual({ name: 'end', data: { reason: 'the service shuts down' } })
  expect(performance.now() - beginMs).toBeLessThan(10_000)
})

it('HEAD tells the type and ends', async () => {
  const { url } = await start()
  const response = await open(url, '', 'HEAD')
  response.resume()
  await once(response, 'end')
  expect(response.headers['content-type']).toContain('text/event-stream')
})
