import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

/** The warnings and admissions of 25 requests, in a process of its own: a process warns once. */
async function served(way: string): Promise<{ codes: string[]; admitted: number }> {
  const script = fileURLToPath(new URL('handler-limiters.mjs', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [script, way])
  return JSON.parse(stdout)
}

describe('limiters that are made inside a handler', () => {
  it.each([
    'limiter in a handler',
    'limiter in an async handler',
    'acquire in a handler',
    'rateLimit in a handler',
    'a function as limit in a handler',
  ])('limit nothing, and one warning says so: %s', async (way) => {
    expect(await served(way)).toEqual({ codes: ['SLUICE_MADE_IN_HANDLER'], admitted: 25 })
  })

  it.each([
    ['one that is kept', 1],
    ['one for each tenant', 4],
  ])('but %s is no reason to warn', async (way, admitted) => {
    expect(await served(way)).toEqual({ codes: [], admitted })
  })

  it('nor are limiters of a program that does not listen, such as a test', async () => {
    expect(await served('no server')).toEqual({ codes: [], admitted: 25 })
  })
})
