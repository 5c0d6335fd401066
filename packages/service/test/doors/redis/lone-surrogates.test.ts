import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../../../../../scripts/redis-server.mjs'
import { startTestService } from '../../serve/test-service.js'

const LEVELS = [{ name: 'user', key: ['user'], limit: { algorithm: 'token-bucket', capacity: 10, refill: '1/d' } }]

async function start(store: string) {
  const redis = store === 'redis' ? await startRedis() : undefined
  onTestFinished(() => redis?.stop())
  const service = await startTestService(LEVELS, redis && { store: redis.url, 'deadline-ms': '5000' })
  onTestFinished(() => service.close())
  /** Sends the text as it is: an escape of JSON can be half of a character. */
  return async (path: string, body: string) => {
    const response = await fetch(`${service.url}/v1/${path}`, { method: 'POST', body })
    expect(response.status).toBe(200)
    return (await response.json()) as Record<string, unknown>
  }
}

test.each(['memory', 'redis'])('a lone surrogate in a key or an id is U+FFFD on the store %s', async (store) => {
  const post = await start(store)
  const check = (user: string) => post('check', `{"attributes":{"user":"${user}"}}`)
  expect(await check('a\\ud800')).toMatchObject({ levels: [{ remaining: 9 }] })
  expect(await check('a\\udc01')).toMatchObject({ levels: [{ remaining: 8 }] })
  expect(await check('a\ufffd')).toMatchObject({ levels: [{ remaining: 7 }] })
  expect(await check('a\\ud83d\\ude00')).toMatchObject({ levels: [{ remaining: 9 }] })
  expect(await check('a😀')).toMatchObject({ levels: [{ remaining: 8 }] })
  const { id } = await post('reserve', '{"attributes":{"user":"b\\ud800"},"cost":4,"ttl":"1m"}')
  expect(await post('settle', `{"id":"${id}","actual":1}`)).toEqual({ settled: true })
  expect(await check('b\ufffd')).toMatchObject({ levels: [{ remaining: 8 }] })
  expect(await post('cancel', '{"id":"\\ud800"}')).toEqual({ cancelled: false })
})
