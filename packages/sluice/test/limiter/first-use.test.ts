import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

/** The warnings and admissions of 25 requests, in a process of its own: a process warns once. */
async function served(way: string, where = 'port'): Promise<{ codes: string[]; admitted: number }> {
  const script = fileURLToPath(new URL('handler-limiters.mjs', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [script, way, where])
  return JSON.parse(stdout)
}

describe('limiters that are made inside a handler', () => {
  it.each([
    'limiter in a handler',
    'limiter in an async handler',
    'limiter that is used after an await',
    'acquire in a handler',
    'lease in a handler',
    'acquireLease in a handler',
    'limiter with a store of its own',
    'createLimiters in a handler',
    'policy in a handler',
    'rateLimit in a handler',
    'rateLimit of Express in a handler',
    'rateLimit of fetch in a handler',
    'a function as limit in a handler',
    'an async key in a handler',
    'an async limit in a handler',
    'settle in a handler',
    'rateLimit with a policy in a handler',
  ])('limit nothing, and one warning says so: %s', async (way) => {
    expect(await served(way)).toEqual({ codes: ['SLUICE_MADE_IN_HANDLER'], admitted: 25 })
  })

  it.each(['worker', 'socket'])('limit nothing either where the server shows no port: %s', async (where) => {
    for (const way of ['limiter in a handler', 'an async key in a handler'])
      expect(await served(way, where)).toEqual({ codes: ['SLUICE_MADE_IN_HANDLER'], admitted: 25 })
    expect(await served('one for each tenant', where)).toEqual({ codes: [], admitted: 4 })
  })

  it.each([
    ['one that is kept', 1],
    ['one that is made at the first request and kept', 1],
    ['a new limiter on a kept store', 1],
    ['one for each tenant', 4],
  ])('but %s is no reason to warn', async (way, admitted) => {
    expect(await served(way)).toEqual({ codes: [], admitted })
  })

  it('nor are limiters of a program that does not listen, such as a test', async () => {
    expect(await served('no server')).toEqual({ codes: [], admitted: 25 })
  })
})
