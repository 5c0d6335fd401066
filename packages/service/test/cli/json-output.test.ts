import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { EXAMPLE, main, sluice } from './run-cli.js'

test('serve --json prints its facts on one line of stdout, and its log on stderr', async () => {
  const child = spawn(process.execPath, [main, 'serve', '--http', '127.0.0.1:0', '--json'], {
    env: { ...process.env, NODE_OPTIONS: '', SLUICE_DEMO: 'off' },
  })
  try {
    let stderr = ''
    child.stderr.on('data', (data: Buffer) => {
      stderr += data
    })
    const lines: string[] = []
    const reader = createInterface(child.stdout)
    reader.on('line', (line) => lines.push(line))
    await once(reader, 'line')
    const facts = JSON.parse(lines[0])
    expect(facts).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      grpc: null,
      page: `${facts.url}/`,
      pid: child.pid,
      policy: null,
      envoyConfig: null,
      name: 'payments',
      levels: ['global', 'merchant', 'charges', 'customers', 'ip'],
      attributes: expect.arrayContaining(['merchant', 'method', 'path', 'ip']),
      store: 'memory',
      lease: false,
      workers: 1,
      admin: false,
      demo: false,
    })
    expect((await fetch(`${facts.url}/readyz`)).status).toBe(200)
    child.kill('SIGTERM')
    expect((await once(child, 'close'))[0]).toBe(0)
    expect(lines).toHaveLength(1)
    const messages = stderr.trim().split('\n')
    expect(messages.map((line) => JSON.parse(line).msg)).toContain('the service listens')
  } finally {
    child.kill('SIGKILL')
  }
})

test('types --json prints attributes and levels', async () => {
  const { code, stdout } = await sluice(['types', EXAMPLE, '--json'])
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toEqual({
    file: EXAMPLE,
    policy: 'payments',
    attributes: ['ip', 'merchant', 'method', 'path'],
    levels: ['global', 'merchant', 'charges', 'customers', 'ip'],
  })
})

test.each([['validate', EXAMPLE], ['explain', EXAMPLE, '--request', '{}'], ['types', EXAMPLE], ['completion']])(
  'sluice %s prints JSON with --json',
  async (...args) => {
    const { code, stdout } = await sluice([...args, '--json'])
    expect(code).toBe(0)
    expect(typeof JSON.parse(stdout)).toBe('object')
  },
)
