import { tokenBucket } from 'sluice'
import { Guard } from 'sluice/http'
import { expect, it } from 'vitest'

const ROUNDS = 15
const REQUESTS = 20_000

interface Request {
  readonly ip: string
}

const reader = { method: () => 'GET', url: () => '/', field: () => undefined, remoteAddress: ({ ip }: Request) => ip }
const limit = tokenBucket({ capacity: 1_000_000, refill: '1/s' })

/** CPU microseconds of so many requests, each decided and told in header fields. */
function cpuUs(guard: Guard<Request>): number {
  const before = process.cpuUsage()
  for (let i = 0; i < REQUESTS; i++) {
    const passage = guard.enter({ ip: `192.0.2.${i % 100}` })
    if (passage === undefined || passage instanceof Promise || passage.quotaField === '') throw new Error('not decided')
  }
  const { user, system } = process.cpuUsage(before)
  return user + system
}

it('with onDecision, a request costs less than two and a half times the CPU time', () => {
  let told = 0
  const plain = new Guard<Request>({ limit }, reader)
  const onDecision = ({ allowed }: { allowed: boolean }) => {
    if (allowed) told++
  }
  const telling = new Guard<Request>({ limit, onDecision }, reader)
  const ratios = Array.from({ length: ROUNDS }, () => {
    const alone = cpuUs(plain)
    return cpuUs(telling) / alone
  })
  expect(told).toBe(ROUNDS * REQUESTS)
  expect(ratios.sort((one, other) => one - other)[Math.floor(ROUNDS / 2)]).toBeLessThan(2.5)
})
