import { status } from '@grpc/grpc-js'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { healthMethods } from '../../src/grpc/health-methods.js'
import { until } from './grpc-client.js'
import { serveMethods } from './serve-methods.js'

const CHECK = '/grpc.health.v1.Health/Check'
const WATCH = '/grpc.health.v1.Health/Watch'
const request = (service: string) => Buffer.concat([Buffer.from([0x0a, service.length]), Buffer.from(service)])
const [SERVING, NOT_SERVING, SERVICE_UNKNOWN] = [1, 2, 3].map((code) => [0x08, code])

let isWell: boolean
let closing: AbortController
let served: Awaited<ReturnType<typeof serveMethods>>
beforeEach(async () => {
  isWell = true
  closing = new AbortController()
  const services = ['ratelimit']
  served = await serveMethods(healthMethods({ services, isServing: async () => isWell, closing: closing.signal }))
})
afterEach(() => served.close())

it('Check says whether the service serves, under each of its names', async () => {
  for (const service of ['', 'ratelimit']) {
    isWell = true
    expect([...(await served.client.unary(CHECK, request(service)))]).toEqual(SERVING)
    isWell = false
    expect([...(await served.client.unary(CHECK, request(service)))]).toEqual(NOT_SERVING)
  }
  expect([...(await served.client.unary(CHECK, Buffer.alloc(0)))]).toEqual(NOT_SERVING)
})

it('Check of a service that does not exist is NOT_FOUND, and bytes that are no request are INVALID_ARGUMENT', async () => {
  expect(await served.client.failure(CHECK, request('other'))).toEqual([status.NOT_FOUND, 'there is no service other'])
  expect((await served.client.failure(CHECK, Buffer.from([0x0a, 9])))[0]).toBe(status.INVALID_ARGUMENT)
})

it('Watch says it at once, and again when it changes', async () => {
  const stream = served.client.serverStream(WATCH, request('ratelimit'))
  const got: number[][] = []
  stream.on('data', (message: Buffer) => got.push([...message]))
  stream.on('error', () => {})
  await until(() => got.length === 1)
  isWell = false
  await until(() => got.length === 2)
  isWell = true
  await until(() => got.length === 3)
  closing.abort()
  await until(() => got.length === 4)
  expect(got).toEqual([SERVING, NOT_SERVING, SERVING, NOT_SERVING])
  stream.cancel()
})

it('Watch of a service that does not exist says so, and does not end', async () => {
  const stream = served.client.serverStream(WATCH, request('other'))
  const got: number[][] = []
  let hasEnded = false
  stream.on('data', (message: Buffer) => got.push([...message]))
  stream.on('end', () => {
    hasEnded = true
  })
  stream.on('error', () => {})
  await until(() => got.length === 1)
  expect([got, hasEnded]).toEqual([[SERVICE_UNKNOWN], false])
  stream.cancel()
})
