import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { browserProfile } from './browser-profile.js'
import { watchProfile } from './watch-profile.js'

const POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'; img-src *"

test('a page that does nothing wrong has no problem', async () => {
  expect(await problemsOf('')).toEqual([])
})

test('an error that is thrown, one that is logged and an answer of 404 are problems', async () => {
  expect(await problemsOf("setTimeout(() => { throw new Error('thrown late') })")).toEqual(['thrown: thrown late'])
  expect(await problemsOf("console.error('logged')")).toEqual([expect.stringMatching(/^console: logged /)])
  expect(await problemsOf("await fetch('/missing')")).toEqual([expect.stringMatching(/^console: .*404.*missing$/)])
})

test('a script inside the page and a request to another origin are problems', async () => {
  const script = "const s = document.createElement('script'); s.textContent = '1'; document.body.append(s)"
  expect(await problemsOf(script)).toEqual([expect.stringMatching(/^console: .*Content Security Policy/)])
  const image =
    "await new Promise((done) => { const i = new Image(); i.onload = done; i.src = 'http://localhost:' + location.port + '/i.svg' })"
  expect(await problemsOf(image)).toEqual([expect.stringMatching(/^elsewhere: http:\/\/localhost/)])
})

/** The problems of a page with this script. */
async function problemsOf(script: string): Promise<readonly string[]> {
  const url = await serve(`${script}\nsetTimeout(() => { document.title = 'ran' }, 20)`)
  const profile = await browserProfile()
  const problems = watchProfile(profile, url)
  const page = await profile.newPage()
  await page.goto(url)
  await page.waitForFunction(() => document.title === 'ran')
  return problems
}

async function serve(script: string): Promise<string> {
  const files: Readonly<Record<string, readonly [string, string]>> = {
    '/': ['text/html', '<!doctype html><link rel="icon" href="i.svg"><body><script type="module" src="s.js"></script>'],
    '/s.js': ['text/javascript', script],
    '/i.svg': ['image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'],
  }
  const server = createServer(({ url = '' }, response) => {
    const [type, text] = files[url] ?? ['text/plain', '']
    response.writeHead(url in files ? 200 : 404, { 'content-type': type, 'content-security-policy': POLICY }).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
