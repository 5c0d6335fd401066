import { expect, it } from 'vitest'
import { DescribedService } from './described-service.js'

const service = new DescribedService()

it('the page shows every route, parameter, member and schema', async () => {
  const { body: html } = await service.ask('GET', '/docs')
  for (const route of service.running.routes) expect(html).toContain(`<code>${route.split(' ')[1]}</code>`)
  for (const name of Object.keys(service.document.components.schemas)) expect(html).toContain(`id="schema-${name}"`)
  expect(html).toContain('retryAfterMs')
})

it('every link of the page leads somewhere', async () => {
  const { body: html } = await service.ask('GET', '/docs')
  const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
  const links = [...html.matchAll(/ href="([^"]+)"/g)].map(([, href]) => href)
  expect(links.length).toBeGreaterThan(20)
  for (const href of links) {
    if (href.startsWith('#')) expect(ids).toContain(href.slice(1))
    else expect((await service.ask('GET', href)).status).toBe(200)
  }
})

it('the page has no script and loads nothing from elsewhere', async () => {
  const { body: html, headers } = await service.ask('GET', '/docs')
  expect(html).not.toMatch(/<script|<link|<img|\ssrc=|@import|url\(/)
  expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/)
})

it('the page has an example with curl for each route', async () => {
  const { body: html } = await service.ask('GET', '/docs')
  const examples = [...html.matchAll(/<code>curl http:\/\/localhost:8080([^\s<]+)/g)].map(([, path]) => path)
  expect(examples.sort()).toEqual(service.running.routes.map((route) => route.split(' ')[1]).sort())
})
