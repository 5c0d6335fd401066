import assert from 'node:assert/strict'
import {
  concurrency,
  fixedWindow,
  type Limit,
  leakyBucket,
  slidingLog,
  slidingWindow,
  tokenBucket,
  unlimited,
} from '../limits/index.js'
import { openReservationsOf } from '../reservations/open-reservations.js'
import { correctionsOf, type OpenReservation, refundsOf, type Store } from '../stores/index.js'
import { demand, nameOf, type StoreRules } from './store-rules.js'

const bucket = tokenBucket({ capacity: 10, refill: '1/d' })
const TTL_MS = 5_000

async function left(store: Store, limit: Limit = bucket, key = 'key'): Promise<number> {
  return (await store.decide([demand(limit, key, 0, nameOf(limit))])).decisions[0].remaining
}

/** Reserves `cost` units of a key. */
async function open(store: Store, id: string, cost: number, limit: Limit = bucket): Promise<OpenReservation> {
  const demands = [demand(limit, 'key', cost, nameOf(limit))]
  return (await openReservationsOf(store).open(id, demands, TTL_MS, 'data')).reservation
}

/** The rules of reservations with an end. A store that keeps none itself has those of its process. */
export const reservationRules: StoreRules = {
  'a reservation takes its units, and is found with all that was asked and answered until it ends': async (
    store,
    clock,
  ) => {
    const reservations = openReservationsOf(store)
    const opened = await open(store, 'a', 4)
    assert.equal(opened.endsAtMs, clock.now() + TTL_MS)
    assert.equal(await left(store), 6)
    clock.advance(TTL_MS - 1)
    const found = await reservations.find('a')
    assert.deepEqual(JSON.parse(JSON.stringify(found)), JSON.parse(JSON.stringify(opened)))
    assert.equal(await reservations.find('b'), undefined)
    clock.advance(1)
    assert.equal(await reservations.find('a'), undefined)
  },
  'to open an open reservation again returns the first answer and takes nothing': async (store, clock) => {
    const opened = await open(store, 'a', 4)
    clock.advance(1_000)
    const again = await openReservationsOf(store).open('a', opened.demands, TTL_MS, 'data')
    assert.deepEqual([again.isNew, again.isKept], [false, true])
    assert.deepEqual(again.reservation.answer, opened.answer)
    assert.equal(again.reservation.endsAtMs, opened.endsAtMs)
    assert.equal(await left(store), 6)
  },
  'a lone surrogate in an id counts as the replacement character': async (store) => {
    const reservations = openReservationsOf(store)
    const { demands } = await open(store, 'a\ud800', 4)
    assert.equal((await reservations.open('a\udc01', demands, TTL_MS, 'data')).isNew, false)
    assert.equal(await left(store), 6)
    assert.equal(await reservations.end('a\ufffd', refundsOf), true)
    assert.equal(await reservations.end('a\ud800', refundsOf), false)
    assert.equal(await left(store), 10)
  },
  'a denied reservation takes nothing and is not open': async (store) => {
    const denied = await open(store, 'a', 11)
    assert.equal(denied.answer.allowed, false)
    assert.equal(await left(store), 10)
    assert.equal(await openReservationsOf(store).find('a'), undefined)
    assert.equal((await open(store, 'a', 1)).answer.allowed, true)
  },
  'the first close of a reservation corrects what it took, and every later one changes nothing': async (store) => {
    const reservations = openReservationsOf(store)
    const opened = await open(store, 'a', 4)
    const corrections = correctionsOf(opened.demands, opened.answer, () => 1)
    const closed = [1, 2, 3].map(async () => reservations.close(opened, corrections))
    assert.deepEqual((await Promise.all(closed)).sort(), [false, false, true])
    assert.equal(await left(store), 9)
    assert.equal(await reservations.close(opened, refundsOf(opened)), false)
    assert.equal(await left(store), 9)
  },
  'a reservation settles more than it took': async (store) => {
    const opened = await open(store, 'a', 4)
    const more = correctionsOf(opened.demands, opened.answer, () => 7)
    assert.equal(await openReservationsOf(store).close(opened, more), true)
    assert.equal(await left(store), 3)
  },
  'a reservation that has ended is given back once, and cannot be closed': async (store, clock, accepts) => {
    const reservations = openReservationsOf(store)
    for (const limit of SLOW_LIMITS.filter(accepts)) {
      const opened = await open(store, nameOf(limit), 4, limit)
      const other = await store.decide([demand(limit, 'key', 3, nameOf(limit))])
      assert.equal(other.allowed, true)
      clock.advance(TTL_MS)
      await reservations.sweep()
      const after = await left(store, limit)
      await reservations.sweep()
      assert.equal(await reservations.close(opened, refundsOf(opened)), false, nameOf(limit))
      assert.equal(await left(store, limit), after)
      // A leaky bucket gives back only its last slot.
      assert.equal(after, limit.algorithm === 'leaky-bucket' ? 3 : 7, nameOf(limit))
    }
  },
  'an id may be used again when its reservation is over, and the earlier one cannot end the later one': async (
    store,
    clock,
  ) => {
    const reservations = openReservationsOf(store)
    const first = await open(store, 'a', 4)
    clock.advance(TTL_MS)
    const second = await open(store, 'a', 5)
    assert.equal(await left(store), 5)
    assert.equal(await reservations.close(first, refundsOf(first)), false)
    assert.equal(await left(store), 5)
    assert.equal(await reservations.close(second, refundsOf(second)), true)
    assert.equal(await left(store), 10)
  },
  'a reservation of several demands takes and gives back all of them': async (store, clock, accepts) => {
    const reservations = openReservationsOf(store)
    const inFlight = concurrency({ max: 2, ttl: '1h' })
    const places = accepts(inFlight) ? inFlight : tokenBucket({ capacity: 2, refill: '1/d' })
    const demands = [
      demand(bucket, 'a', 2, 'one'),
      demand(bucket, 'a', 3, 'one'),
      demand(places, 'b', 1, 'two'),
      { ...demand(bucket, 'c', 20, 'three'), shadow: true },
      demand(unlimited(), 'd', 4, 'four'),
    ]
    const remaining = async () =>
      (await Promise.all(demands.map(async (each) => store.decide([{ ...each, cost: 0 }])))).map(
        ({ decisions }) => decisions[0].remaining,
      )
    const { reservation } = await reservations.open('a', demands, TTL_MS, 'data')
    assert.deepEqual(await remaining(), [5, 5, 1, 10, Infinity])
    const found = await reservations.find('a')
    assert.deepEqual(found?.answer, reservation.answer)
    clock.advance(TTL_MS)
    await reservations.sweep()
    assert.deepEqual(await remaining(), [10, 10, 2, 10, Infinity])
  },
}

/** Limits of 10 units that get none back within the test. */
const SLOW_LIMITS: readonly Limit[] = [
  bucket,
  leakyBucket({ capacity: 10, drain: '1/d' }),
  fixedWindow({ quota: 10, window: '1d', align: 'first' }),
  slidingWindow({ quota: 10, window: '1d', align: 'first' }),
  slidingLog({ quota: 10, window: '1d' }),
  concurrency({ max: 10, ttl: '1d' }),
]
