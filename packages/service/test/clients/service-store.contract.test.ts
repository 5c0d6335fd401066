import { memoryStore, type Store } from 'sluice'
import { serviceStore } from 'sluice/client'
import { type ManualClock, storeContract } from 'sluice/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { isLong } from '../../../sluice/test/property/arbitraries.js'
import { Services } from './in-process.js'

describe('serviceStore in front of a service whose clock the test moves', () => {
  const services = new Services()

  afterAll(async () => {
    await services.stop()
    expect(services.faults).toEqual([])
  })

  const create = async (clock: ManualClock) =>
    serviceStore(await services.start(memoryStore({ clock })), { deadlineMs: 60_000 })
  for (const { name, run } of storeContract(create, { traces: isLong ? 200 : 60 })) test(name, run, 120_000)
})

describe('serviceStore whose service has stopped', () => {
  const services = new Map<Store, Services>()

  const create = async () => {
    const own = new Services()
    const store = serviceStore(await own.start(memoryStore()), { deadlineMs: 10_000 })
    services.set(store, own)
    return store
  }
  const fail = (store: Store) => services.get(store)?.stop()
  for (const { name, run } of storeContract(create, { fail }).filter(({ name }) =>
    /the failures of the store/.test(name),
  ))
    test(name, run)
})
