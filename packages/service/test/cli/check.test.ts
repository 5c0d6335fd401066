import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { ServeProcess } from '../serve/serve-process.js'
import { sluice, sluiceHere } from './run-cli.js'

let service: ServeProcess
let env: Readonly<Record<string, string>>

/** Its `slow` level brings nothing back while the tests run. */
const POLICY = `
version: 1
levels:
  - { name: global, limit: { algorithm: token-bucket, capacity: 10000, refill: 10000/s } }
  - { name: merchant, key: [merchant], limit: { algorithm: token-bucket, capacity: 100, refill: 100/s } }
  - { name: slow, key: [slow], limit: { algorithm: token-bucket, capacity: 2, refill: 1/h } }
`

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-check-'))
  await writeFile(join(folder, 'policy.yaml'), POLICY)
  service = await ServeProcess.start(['--policy', join(folder, 'policy.yaml')])
  await rm(folder, { recursive: true })
  env = { SLUICE_URL: service.url }
})

afterAll(async () => {
  service.child.kill()
  await service.ended
})

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The address of a server that is not a Sluice service. */
function other(answer: RequestListener): Promise<string> {
  return listening(createHttpServer(answer))
}

test('check asks with attributes of the command line, and an allowed request ends with 0', async () => {
  const args = ['check', 'slow=words', 'merchant=acct_words']
  const { code, stdout, stderr } = await sluice(args, { env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toBe(`Allowed.

level     left
global    9999 of 10000  whole in 1 ms
merchant  99 of 100      whole in 10 ms
slow      1 of 2         whole in 60 min
`)
})

test('check adds the attributes of --request, and --url names the service', async () => {
  const args = ['check', 'merchant=acct_1', '--request', '{"slow":"json"}', '--json']
  const { code, stdout } = await sluice([...args, '--url', service.url], { env: { SLUICE_URL: 'http://127.0.0.1:9' } })
  expect(code).toBe(0)
  const verdict = JSON.parse(stdout)
  expect(verdict).toMatchObject({ allowed: true, deniedBy: [], retryAfterMs: 0 })
  expect(verdict.levels.map(({ name }: { name: string }) => name)).toEqual(['global', 'merchant', 'slow'])
})

test('a denied request ends with 3 and says who denied and when to come back', async () => {
  expect((await sluiceHere(['check', 'slow=denied', '--cost', '2'], { env })).code).toBe(0)
  const { code, stdout } = await sluice(['check', 'slow=denied'], { env })
  expect(code).toBe(3)
  expect(stdout).toMatch(/^Denied by slow: come back in 60 min\.\n\nlevel/)
  expect(stdout).toMatch(/\nslow +0 of 2 +denies, come back in 60 min\n/)
})

test('a cost that can never pass is denied for ever', async () => {
  const { code, stdout } = await sluiceHere(['check', 'merchant=acct_never', '--cost', '101'], { env })
  expect(code).toBe(3)
  expect(stdout).toContain('Denied by merchant: a request like this never passes.')
})

test('a cost of 0 looks and takes nothing', async () => {
  await sluiceHere(['check', 'merchant=acct_look', '--cost', '0'], { env })
  const { stdout } = await sluiceHere(['check', 'merchant=acct_look', '--cost', '0'], { env })
  expect(stdout).toContain('merchant  100 of 100      whole\n')
})

test.each([
  [['merchant'], "an attribute is written name=value, such as merchant=acct_1, got 'merchant'"],
  [['=acct_1'], "an attribute is written name=value, such as merchant=acct_1, got '=acct_1'"],
  [['ip=192.0.2.1', 'ip=192.0.2.2'], 'the attribute ip is given twice'],
  [['ip=192.0.2.1', '--request', '{"ip":"192.0.2.2"}'], 'the attribute ip is given twice'],
  [['--request', '[]'], '--request must be a JSON object such as'],
  [['--cost', '-1'], "--cost must be a whole number from 0, got '-1'"],
  [['--url', 'ftp://a'], "--url must be the address of a service, such as http://127.0.0.1:8080, got 'ftp://a'"],
  [['--url', 'http://user@a'], '--url must be the address of a service'],
  [['--request', '{"merchant":{}}'], 'the attribute merchant must be text'],
])('check %j is an error that says what would be right', async (args, said) => {
  const { code, stdout, stderr } = await sluiceHere(['check', ...args], { env })
  expect(stderr).toContain(said)
  expect(stderr).toMatch(/^sluice: [^\n]*\n$/)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
})

async function refusal(url: string): Promise<string> {
  const { code, stdout, stderr } = await sluiceHere(['check', 'ip=192.0.2.1'], { env: { SLUICE_URL: url } })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^sluice: [^\n]*\n$/)
  return stderr
}

test('a service that is not there is named, with how to start one', async () => {
  const server = createServer()
  const url = await listening(server)
  await new Promise((resolve) => server.close(resolve))
  expect(await refusal(url)).toBe(
    `sluice: no service listens at ${url}; 'sluice serve' starts one, and --url or SLUICE_URL names another\n`,
  )
})

test('a host without an address is named', async () => {
  expect(await refusal('http://no-such-host.invalid:8080')).toContain('http://no-such-host.invalid:8080')
})

test('a server that is not a Sluice service is called so', async () => {
  const page = await other((_, response) => response.writeHead(404, { 'Content-Type': 'text/html' }).end('<p>no</p>'))
  expect(await refusal(page)).toContain(`${page} is not a Sluice service: it answers with status 404 and text/html`)
  const json = await other((_, response) => response.writeHead(200, { 'Content-Type': 'application/json' }).end('[]'))
  expect(await refusal(json)).toContain(`${json} is not a Sluice service: it answers /v1/check with application/json`)
  const moved = await other((_, response) => response.writeHead(308, { Location: 'https://a.example/' }).end())
  expect(await refusal(moved)).toContain('redirects to https://a.example/; give that address with --url')
  const silent = await listening(createServer((socket) => socket.end('+PONG\r\n')))
  expect(await refusal(silent)).toContain(`${silent} is not a Sluice service: it does not speak HTTP`)
})

test('the answer of a server controls no terminal', async () => {
  const verdict = { allowed: false, deniedBy: ['\u001b[2J'], levels: [], retryAfterMs: 5, delayMs: 0 }
  const url = await other((_, response) => response.end(JSON.stringify(verdict)))
  const { code, stdout } = await sluiceHere(['check', 'ip=192.0.2.1'], { env: { SLUICE_URL: url } })
  expect(code).toBe(3)
  expect(stdout).toBe('Denied by \\u001b[2J: come back in 5 ms.\n')
})
