import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { memoryStore } from 'sluice'
import { afterEach, expect, it } from 'vitest'
import { Services } from './in-process.js'

const services = new Services()
const script = fileURLToPath(new URL('./exit.mjs', import.meta.url))

afterEach(() => services.stop())

async function outputOf(url: string): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [script, url], { timeout: 20_000 })
  return stdout + stderr
}

it('neither an idle connection nor a deadline that is far off keeps a process alive', async () => {
  expect(await outputOf(await services.start(memoryStore()))).toBe('breaker closed\n')
})

it('an outage does not keep a process alive', async () => {
  const url = await services.start(memoryStore())
  await services.stop()
  expect(await outputOf(url)).toBe('breaker open\n')
})
