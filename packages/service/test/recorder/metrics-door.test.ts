import { channel } from 'node:diagnostics_channel'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { RunningService } from '../../dist/serve/start-service.js'
import { sampleOf, scrape, serveHere } from './serve-here.js'

let running: RunningService | undefined

afterEach(async () => {
  await running?.close()
  running = undefined
})

const request = { method: 'POST', path: '/v1/charges', merchant: 'acct_secret', ip: '192.0.2.7' }

function post(path: string, body: unknown): Promise<Response> {
  return fetch(`${running?.url}${path}`, { method: 'POST', body: JSON.stringify(body) })
}

describe('GET /metrics', () => {
  it('counts decisions, requests by door and status, batches, keys and the process', async () => {
    running = await serveHere()
    await post('/v1/check', { attributes: request })
    await post('/v1/check', { wrong: true })
    await post('/v1/check/batch', { checks: [{ attributes: request }, { attributes: request }, {}] })
    await fetch(`${running.url}/nowhere`)
    await fetch(`${running.url}/readyz`)
    const metrics = await scrape(running.url)
    const value = (series: string) => sampleOf(metrics, series)
    expect(value('sluice_decisions_total{kind="policy",name="payments",outcome="allowed"}')).toBe(4)
    expect(value('sluice_decisions_total{kind="limiter",name="#readyz",outcome="allowed"}')).toBe(1)
    expect(value('sluice_level_decisions_total{level="merchant",outcome="allowed",policy="payments"}')).toBe(3)
    expect(value('sluice_decision_duration_seconds_count{kind="policy",name="payments"}')).toBe(4)
    expect(value('sluice_http_requests_total{door="check",status="2xx"}')).toBe(2)
    expect(value('sluice_http_requests_total{door="check",status="4xx"}')).toBe(1)
    expect(value('sluice_http_requests_total{door="none",status="4xx"}')).toBe(1)
    expect(value('sluice_http_requests_total{door="health",status="2xx"}')).toBe(1)
    expect(value('sluice_batch_size_sum{door="check"}')).toBe(3)
    expect(value('sluice_batch_size_bucket{door="check",le="5"}')).toBe(1)
    expect(value('sluice_store_keys')).toBeGreaterThan(0)
    expect(value('sluice_http_connections')).toBeGreaterThan(0)
    expect(value('process_cpu_seconds_total')).toBeGreaterThan(0)
    expect(value('process_resident_memory_bytes')).toBeGreaterThan(1e6)
    expect(value('nodejs_eventloop_active_seconds_total')).toBeGreaterThan(0)
    expect(value('sluice_info{store="memory",version="0.1.0"}')).toBe(1)
  })

  it('never contains a key of a client, but the recorder knows the top keys', async () => {
    running = await serveHere()
    await post('/v1/check', { attributes: request })
    expect(await (await fetch(`${running.url}/metrics`)).text()).not.toMatch(/acct_secret|192\.0\.2\.7/)
    expect(JSON.stringify(running.service.recorder.topKeys.read())).toContain('acct_secret')
  })

  it('counts a request whose client went away before the answer', async () => {
    running = await serveHere()
    const { hostname, port } = new URL(running.url)
    const socket = connect(Number(port), hostname)
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.write('POST /v1/check HTTP/1.1\r\nHost: here\r\nContent-Length: 100\r\n\r\n{')
    socket.destroySoon()
    const aborted = 'sluice_http_requests_total{door="check",status="aborted"}'
    await expect.poll(async () => sampleOf(await scrape(running?.url ?? ''), aborted), { timeout: 10_000 }).toBe(1)
  })

  it('shows how often the policy was loaded again', async () => {
    running = await serveHere()
    running.service.use(running.service.file)
    running.service.recorder.refuse(1)
    const metrics = await scrape(running.url)
    expect(sampleOf(metrics, 'sluice_policy_reloads_total{result="loaded"}')).toBe(1)
    expect(sampleOf(metrics, 'sluice_policy_reloads_total{result="refused"}')).toBe(1)
  })

  it('leaves nothing behind when the service is closed', async () => {
    const decisions = channel('sluice:decision')
    const service = await serveHere()
    expect(decisions.hasSubscribers).toBe(true)
    await service.close()
    expect(decisions.hasSubscribers).toBe(false)
  })
})
