import assert from 'node:assert/strict'
import { ManualClock } from 'sluice/testing'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type RedisCluster, startCluster } from '../../../../../scripts/redis-cluster.mjs'
import { createPolicy, memoryStore } from '../../../src/index.js'
import { microseconds } from '../../../src/limits/index.js'
import { runnerOf } from '../../../src/stores/redis/clients/runner-of.js'
import { RedisStore } from '../../../src/stores/redis/redis-store.js'
import { injectedTime } from '../../../src/stores/redis/time-source.js'
import { CLUSTER_CLIENTS, type ClusterClient } from '../../redis/cluster-clients.js'
import { Dice, randomLevels, randomRequest } from './random-policies.js'

const POLICIES = 40
const REQUESTS = 40

let cluster: RedisCluster
let opened: ClusterClient
beforeAll(async () => {
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  cluster = await startCluster()
  opened = await CLUSTER_CLIENTS.ioredis(cluster)
})
afterAll(async () => {
  vi.restoreAllMocks()
  opened?.close()
  await cluster?.stop()
})

it('one request after the other, a policy in a cluster decides as one in memory, and denials change nothing', async () => {
  const dice = new Dice(31)
  let denied = 0
  for (let i = 0; i < POLICIES; i++) {
    const clock = new ManualClock(Date.UTC(2026, 0, 1) + dice.from(0, 100_000))
    const time = injectedTime(() => microseconds(clock.now()))
    const store = new RedisStore(runnerOf(opened.client), { prefix: `test-${i}:`, deadlineMs: 20_000 }, time)
    const { levels } = randomLevels(dice)
    const inMemory = createPolicy({ name: 'random', levels, store: memoryStore({ clock }) })
    const inCluster = createPolicy({ name: 'random', levels, store })
    for (let j = 0; j < REQUESTS; j++) {
      clock.advance(dice.of([0, 0, 1, 17.123, 100, 333, dice.from(0, 1_500)]))
      const request = randomRequest(dice)
      const cost = dice.of([0, 1, 1, 1, 2, 3, 13])
      const context = `policy ${i}, request ${j}: ${JSON.stringify({ levels, request, cost })}`
      const before = inMemory.peek(request)
      const verdict = inMemory.check(request, { cost })
      assert.deepStrictEqual(await inCluster.check(request, { cost }), verdict, context)
      if (verdict.allowed) continue
      denied++
      assert.deepStrictEqual(await inCluster.peek(request), before, context)
    }
  }
  expect(denied).toBeGreaterThan(POLICIES * 5)
})
