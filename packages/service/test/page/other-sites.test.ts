/** What the page asks without a token is for the page: a browser that another site sends here is refused. */
import { once } from 'node:events'
import { request } from 'node:http'
import { expect, test } from 'vitest'
import { startTestService } from '../serve/test-service.js'

const QUESTIONS = [
  { method: 'GET', path: '/v1/live' },
  { method: 'POST', path: '/v1/inspect', body: '{"attributes":{}}' },
  { method: 'POST', path: '/v1/demo', body: '{"running":false}' },
]

test.each(QUESTIONS)('$method $path refuses a browser on another site, and no other client', async (question) => {
  const running = await startTestService(undefined, { 'shutdown-ms': '100' })
  try {
    const switches: boolean[] = []
    running.service.switchDemo = (isRunning) => switches.push(isRunning)
    for (const site of ['cross-site', 'same-site']) expect(await statusOf(running.url, question, site)).toBe(403)
    expect(switches).toEqual([])
    for (const site of [undefined, 'same-origin', 'none'])
      expect(await statusOf(running.url, question, site), site).toBe(200)
  } finally {
    await running.close()
  }
})

test('a link on another site leads to the page', async () => {
  const running = await startTestService()
  try {
    expect(await statusOf(running.url, { method: 'GET', path: '/' }, 'cross-site')).toBe(200)
  } finally {
    await running.close()
  }
})

/** `site` is what a browser says about the page that asks; other clients say nothing. */
async function statusOf(
  url: string,
  { method, path, body }: { readonly method: string; readonly path: string; readonly body?: string },
  site: string | undefined,
): Promise<number | undefined> {
  const headers = site === undefined ? {} : { 'sec-fetch-site': site }
  const asked = request(url + path, { method, headers, agent: false })
  asked.end(body)
  const [response] = await once(asked, 'response')
  response.destroy()
  return response.statusCode
}
