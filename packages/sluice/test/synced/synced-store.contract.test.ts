import type { Answer, AsyncStore, Clock, Decision } from 'sluice'
import { syncedStore } from 'sluice/synced'
import { type ManualClock, storeContract } from 'sluice/testing'
import { describe, it } from 'vitest'
import { SharedMemory } from './shared-memory.js'

/** The contract knows no `asOfMs`: it compares every other digit. */
function withoutAge(store: AsyncStore): AsyncStore {
  const ageless = ({ asOfMs: _, ...decision }: Decision) => decision
  const agelessAll = (answer: Answer) => ({ ...answer, decisions: answer.decisions.map(ageless) })
  return {
    clock: store.clock,
    blocksByRule: true,
    decide: (demands) => store.decide(demands).then(agelessAll),
    peek: (demands) => store.peek(demands).then(agelessAll),
    charge: (demand) => store.charge(demand).then(ageless),
    refund: (demand, taken) => store.refund(demand, taken).then(ageless),
    set: (limited, remaining) => store.set(limited, remaining).then(ageless),
    reset: (name, key) => store.reset(name, key),
    block: (name, key, durationUs) => store.block(name, key, durationUs),
    overrides: (policy) => (store as Required<AsyncStore>).overrides(policy),
  }
}

describe('a synced store between two syncs', () => {
  const stillClock = (clock: Clock): Clock => ({ now: () => clock.now(), alarm: () => () => {} })
  const create = (clock: ManualClock) =>
    withoutAge(syncedStore(new SharedMemory(clock), { clock: stillClock(clock), intervalMs: 60_000 }))
  // A block that the store has made ends here up to a millisecond later, because waits are whole milliseconds.
  const cases = storeContract(create, { traces: 100 }).filter(({ name }) => !name.includes('limits that block keys'))
  for (const { name, run } of cases) it(name, run)
})

/**
 * The store counts units when it is told, up to an interval after they were taken. Then they leave a window later, and a
 * bucket that was whole has lost the refill of that time. These cases see the difference.
 */
const LATE = [
  'article 001: a sliding window weighs the previous window by its share that is still inside',
  'article 001: five e-mails an hour, r = 5/3600, b = 5',
  'article 004: ten idle hours at 5 a second bring 20 tokens, not 180,000',
  'a charge may leave a debt, and a key in debt is denied even a cost of 0',
  'a key that was set goes on like a fresh key from which the rest was taken',
  'a limit that is cut to 0 denies at once, and gives its units again when it is raised',
]

describe('a synced store that is alone, with its syncs', () => {
  const cases = storeContract((clock) => withoutAge(syncedStore(new SharedMemory(clock), { intervalMs: 60_000 })), {
    traces: 1,
  })
  for (const { name, run } of cases.filter((each) => !LATE.includes(each.name) && !each.name.includes('random series')))
    it(name, run)
})
