import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pipelined } from '../adapters/pipelined.js'

const SERVER = fileURLToPath(new URL('./server.mjs', import.meta.url))

/** `sluice/fetch` behind the server of another runtime, over real sockets. `args` come before the program. */
export function runtimeSuite(name: string, command: string, args: readonly string[]): void {
  describe(name, () => {
    let child: ChildProcess
    let port = 0
    let origin = ''

    beforeAll(async () => {
      child = spawn(command, [...args, SERVER], {
        env: { ...process.env, DENO_NO_UPDATE_CHECK: '1' },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const [said] = await Promise.race([
        once(child.stdout as NodeJS.ReadableStream, 'data'),
        once(child, 'exit').then(([code]) => Promise.reject(new Error(`the server ended: ${code}`))),
      ])
      port = Number(said)
      origin = `http://127.0.0.1:${port}`
    }, 60_000)

    afterAll(async () => {
      if (child?.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    })

    async function ask(path: string, init?: RequestInit) {
      const response = await fetch(origin + path, init)
      return { status: response.status, headers: response.headers, text: await response.text() }
    }

    it('of ten pipelined requests under a limit of five exactly five pass', async () => {
      const statuses = await pipelined(port, 10, '/pipelined')
      expect(statuses.filter((status) => status === 200)).toHaveLength(5)
      expect(statuses.filter((status) => status === 429)).toHaveLength(5)
    })

    it('tells the quota whatever the method, and when to come back', async () => {
      for (const [left, method] of ['GET', 'HEAD', 'OPTIONS', 'POST', 'DELETE'].entries()) {
        const { status, headers } = await ask('/methods', { method })
        expect([method, status]).toEqual([method, 200])
        // A day, minus the time that the test has taken.
        expect(headers.get('ratelimit')).toMatch(new RegExp(`^"default";r=${4 - left};t=86[34]\\d\\d$`))
        expect(headers.get('ratelimit-policy')).toBe('"default";q=5;w=432000')
      }
      const { status, headers, text } = await ask('/methods')
      expect(status).toBe(429)
      expect(headers.get('retry-after')).toMatch(/^86[34]\d\d$/)
      expect(headers.get('content-type')).toBe('application/problem+json')
      expect(JSON.parse(text)).toMatchObject({ status: 429, 'violated-policies': ['default'] })
      expect((await ask('/elsewhere')).status).toBe(404)
    })

    it('counts a request whose handler throws', async () => {
      const statuses: number[] = []
      for (let i = 0; i < 6; i++) statuses.push((await ask('/broken')).status)
      expect(statuses).toEqual([500, 500, 500, 500, 500, 429])
    })

    it('settles by the length of the response', async () => {
      expect((await ask('/settled')).text).toBe('0123456789')
      const left = async () => Number(/r=(\d+)/.exec((await ask('/settled')).headers.get('ratelimit') ?? '')?.[1])
      expect(await left()).toBe(89)
    })

    it('lets a leaky bucket leave in its time', async () => {
      const answers = await Promise.all(Array.from({ length: 3 }, () => ask('/queue')))
      const times = answers.map(({ text }) => Number(text)).sort((one, other) => one - other)
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
      expect(times[2] - times[0]).toBeGreaterThanOrEqual(90)
    })

    it('has no more in flight than there are places, and frees them', async () => {
      const answers = await Promise.all(Array.from({ length: 10 }, () => ask('/places')))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
      await expect.poll(async () => (await ask('/places')).status).toBe(200)
    })

    it('frees the place of a client that goes away in the middle of a response', async () => {
      const controller = new AbortController()
      const response = await fetch(`${origin}/endless`, { signal: controller.signal })
      expect(response.status).toBe(200)
      expect((await ask('/endless')).status).toBe(429)
      controller.abort()
      const again = async () => {
        const next = new AbortController()
        const { status } = await fetch(`${origin}/endless`, { signal: next.signal })
        next.abort()
        return status
      }
      await expect.poll(again, { timeout: 10_000 }).toBe(200)
    })
  })
}
