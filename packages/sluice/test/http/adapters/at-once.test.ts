import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { fixedWindow } from 'sluice'
import { rateLimit as expressLimit } from 'sluice/express'
import { rateLimit as fetchLimit } from 'sluice/fetch'
import { rateLimit as nodeLimit } from 'sluice/node'
import { describe, expect, it } from 'vitest'

const limit = fixedWindow({ quota: 1, window: '1h' })

function exchange(): [IncomingMessage, ServerResponse] {
  const request = new IncomingMessage(new Socket())
  return [request, new ServerResponse(request)]
}

describe('on a memory store everything happens at once', () => {
  it.each([
    ['node', nodeLimit({ limit, key: () => 'all' })],
    ['express', expressLimit<IncomingMessage, ServerResponse>({ limit, key: () => 'all' })],
  ])('%s calls next before it returns, or ends the response', (_name, limited) => {
    let calls = 0
    limited(...exchange(), () => calls++)
    expect(calls).toBe(1)
    const [request, response] = exchange()
    limited(request, response, () => calls++)
    expect([calls, response.statusCode, response.writableEnded]).toEqual([1, 429, true])
  })

  it('a fetch handler gives a response, not the promise of one', () => {
    const handler = fetchLimit({ limit, key: () => 'all' })(() => new Response('ok'))
    const response = handler(new Request('http://localhost/'))
    expect(response).toBeInstanceOf(Response)
    expect(handler(new Request('http://localhost/'))).toMatchObject({ status: 429 })
  })

  it('an error of the handler is thrown as if there were no limit, and the handler is not called twice', () => {
    let calls = 0
    const limited = nodeLimit({ limit, key: () => 'all' })
    const next = () => {
      calls++
      throw new Error('boom')
    }
    expect(() => limited(...exchange(), next)).toThrow('boom')
    expect(calls).toBe(1)
  })
})
