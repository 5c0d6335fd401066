/** `GET /` over real sockets: what browsers are told, what they may keep, and what hostile paths get. */
import { mkdtemp, rm } from 'node:fs/promises'
import { type IncomingHttpHeaders, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pageDoor } from '../../src/doors/page-door.js'
import { HttpServer } from '../../src/server/http-server.js'
import { startTestService, type TestService } from '../serve/test-service.js'
import { RawClient } from '../server/raw-client.js'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

interface Answer {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Asks without what `fetch` adds, and does not unpack the answer. */
function get(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Answer> {
  const { hostname, port } = new URL(service.url)
  return new Promise((resolve, reject) => {
    const asked = request({ hostname, port, path, method, headers, agent: false }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(parts) }),
      )
    })
    asked.on('error', reject).end()
  })
}

async function assets(): Promise<readonly string[]> {
  const html = String((await get('/')).body)
  return [...html.matchAll(/(?:href|src)="(\/[^"]+)"/g)].map(([, path]) => path)
}

test('the page runs only its own script, is shown in no frame, and is asked for anew each time', async () => {
  const { status, headers, body } = await get('/')
  expect(status).toBe(200)
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-length': `${body.length}`,
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  })
  expect(String(headers['content-security-policy']).split('; ')).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ])
  expect(String(body)).toContain('<title>Sluice</title>')
  expect(String(body)).not.toMatch(/ style=|<style|<script(?! type="module" src="\/page\/)| on\w+=/)
})

test('its script and style sheet are kept for ever, because their names change with their contents', async () => {
  const paths = await assets()
  expect(paths.map((path) => path.replace(/page-[\da-f]{12}/, 'page-HASH'))).toEqual([
    '/page/page-HASH.css',
    '/page/page-HASH.js',
  ])
  const types: Readonly<Record<string, string>> = { css: 'text/css', js: 'text/javascript' }
  for (const path of paths) {
    const { status, headers, body } = await get(path)
    expect(status).toBe(200)
    expect(headers['content-type']).toBe(`${types[path.split('.')[1]]}; charset=utf-8`)
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(body.length).toBeGreaterThan(1_000)
  }
})

test('a client that takes gzip gets gzip, and another gets the same bytes plain', async () => {
  for (const path of ['/', ...(await assets())]) {
    const plain = await get(path)
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(plain.headers.vary).toBe('Accept-Encoding')
    for (const accepted of ['gzip', 'br;q=1, GZIP ; q=0.2', '*', 'gzip, deflate, br, zstd']) {
      const { headers, body } = await get(path, { 'accept-encoding': accepted })
      expect(headers['content-encoding'], accepted).toBe('gzip')
      expect(Number(headers['content-length'])).toBe(body.length)
      expect(gunzipSync(body).equals(plain.body)).toBe(true)
      expect(headers.etag).not.toBe(plain.headers.etag)
    }
    for (const accepted of ['', 'identity', 'br', 'gzip;q=0', 'gzip;q=0, *', '*;q=0', 'gzip;q=x'])
      expect((await get(path, { 'accept-encoding': accepted })).body.equals(plain.body), accepted).toBe(true)
  }
})

test('all files together are under 150 KB compressed', async () => {
  let bytes = 0
  for (const path of ['/', ...(await assets())]) bytes += (await get(path, { 'accept-encoding': 'gzip' })).body.length
  expect(bytes).toBeLessThan(150_000)
})

test('a browser that has the file is told so, by its tag', async () => {
  for (const path of ['/', ...(await assets())])
    for (const encoding of ['identity', 'gzip']) {
      const fields = { 'accept-encoding': encoding }
      const { headers } = await get(path, fields)
      const tag = String(headers.etag)
      for (const given of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
        const again = await get(path, { ...fields, 'if-none-match': given })
        expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, tag])
        expect(again.headers['cache-control']).toBe(headers['cache-control'])
      }
      expect((await get(path, { ...fields, 'if-none-match': '"other"' })).status).toBe(200)
    }
})

test('HEAD has the fields and no body; other methods are refused', async () => {
  for (const path of ['/', ...(await assets())]) {
    const { date: _, ...fields } = (await get(path)).headers
    const head = await get(path, {}, 'HEAD')
    expect(head.headers).toMatchObject(fields)
    expect(head.body.length).toBe(0)
    const refused = await get(path, {}, 'POST')
    expect([refused.status, refused.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS'])
  }
})

test.each([
  '/page/../../etc/passwd',
  '/page/..%2f..%2fetc%2fpasswd',
  '/page/%2e%2e/%2e%2e/package.json',
  '/page/....//index.html',
  '/page/index.html',
  '/page/',
  '/page',
  '//',
  '/./',
  '/page/page-000000000000.js',
  '/page\\..\\index.html',
  '/page/\u0000',
])('the path %j names no file', async (path) => {
  const client = await RawClient.to(service.url)
  client.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  const answer = await client.rest()
  expect(answer).toMatch(/^HTTP\/1\.1 40[04] /)
  expect(answer).not.toMatch(/<title>|root:|"name"/)
})

test('with --page off there is no page, and the rest is there', async () => {
  const off = await startTestService(undefined, { page: 'off' })
  try {
    const response = await fetch(`${off.url}/`)
    expect([response.status, ((await response.json()) as { detail: string }).detail]).toEqual([
      404,
      expect.stringContaining('/docs lists'),
    ])
    expect((await fetch(`${off.url}${(await assets())[0]}`)).status).toBe(404)
    expect((await fetch(`${off.url}/docs`)).status).toBe(200)
  } finally {
    await off.close()
  }
})

test('an installation without the files of the page says so, and serves the rest', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-page-'))
  const server = new HttpServer([pageDoor(`${folder}/`)], { fault: () => {} })
  try {
    await server.listen('127.0.0.1', 0)
    const response = await fetch(server.url)
    expect(response.status).toBe(404)
    expect(((await response.json()) as { detail: string }).detail).toContain(
      'the files of the page are missing from this installation',
    )
  } finally {
    await server.close(0)
    await rm(folder, { recursive: true })
  }
})
