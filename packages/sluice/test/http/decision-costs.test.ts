import { tokenBucket } from 'sluice'
import { Guard, type GuardOptions } from 'sluice/http'
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

/** How many times the CPU time of a plain limit requests with other options take: the median of several rounds. */
function ratioOf(options: Partial<GuardOptions<Request>>): number {
  const [plain, other] = [
    new Guard<Request>({ limit }, reader),
    new Guard<Request>({ limit, ...options } as GuardOptions<Request>, reader),
  ]
  const ratios = Array.from({ length: ROUNDS }, () => {
    const alone = cpuUs(plain)
    return cpuUs(other) / alone
  })
  return ratios.sort((one, other) => one - other)[Math.floor(ROUNDS / 2)]
}

it('with onDecision, a request costs less than two and a half times the CPU time', () => {
  let told = 0
  const onDecision = ({ allowed }: { allowed: boolean }) => {
    if (allowed) told++
  }
  expect(ratioOf({ onDecision })).toBeLessThan(2.5)
  expect(told).toBe(ROUNDS * REQUESTS)
})

it('with key, skip and cost as functions that answer at once, a request costs less than twice the CPU time', () => {
  expect(ratioOf({ key: ({ ip }) => ip, skip: () => false, cost: () => 1 })).toBeLessThan(2)
})
