import type { LeasedStoreStats } from 'sluice/leased'
import type { StoreHealth } from '../recorder/store-health.js'
import type { LiveStore, LiveStoreFigure } from './live-events.js'

const TEXTS = {
  memory: 'Counts are kept in the memory of this service.',
  full: 'The memory for keys is used up: requests of new keys are denied or share a state.',
  redis: 'Redis answers.',
  away: 'Redis does not answer: decisions are made by the rule for that time.',
  other: 'The store tells nothing about itself.',
}

/** The store of one worker for a person. It remembers the counters of the last call, to tell rates. */
export class StoreFigures {
  #before: StoreHealth | undefined
  #beforeMs: number

  constructor(nowMs: number) {
    this.#beforeMs = nowMs
  }

  next(health: StoreHealth, nowMs: number): LiveStore {
    const before = this.#before ?? health
    const seconds = Math.max(0.001, (nowMs - this.#beforeMs) / 1_000)
    this.#before = health
    this.#beforeMs = nowMs
    const rate = (name: string, now: number, last: number) => figure(name, Math.round((now - last) / seconds), '/s')
    const { leases } = health
    return {
      ...ownFigures(health, before, rate),
      ...(leases !== undefined && { leases: leaseFigures(leases, before.leases ?? leases, rate) }),
    }
  }
}

type RateFigure = (name: string, now: number, last: number) => LiveStoreFigure

function ownFigures(health: StoreHealth, before: StoreHealth, rate: RateFigure): LiveStore {
  if (health.kind === 'memory') {
    const last = before.kind === 'memory' ? before : health
    const isFull = health.shared + health.refused > last.shared + last.refused
    return {
      kind: 'memory',
      state: 'well',
      text: isFull ? TEXTS.full : TEXTS.memory,
      figures: [
        figure('keys', health.keys),
        figure('most keys', health.maxKeys),
        figure('memory', health.bytes, 'bytes'),
        rate('states forgotten', health.dropped, last.dropped),
        figure('decisions on shared states', health.shared),
        figure('denials for lack of memory', health.refused),
      ],
    }
  }
  if (health.kind === 'redis') {
    const last = before.kind === 'redis' ? before : health
    const degraded = totalOf(health.degraded) - totalOf(last.degraded)
    const isAway = health.breaker === 'open' || degraded > 0
    return {
      kind: 'redis',
      state: isAway ? 'degraded' : 'well',
      text: isAway ? TEXTS.away : TEXTS.redis,
      figures: [
        rate('calls', health.calls, last.calls),
        rate('batches', health.batches, last.batches),
        figure('calls under way', health.pending),
        figure('calls answered without Redis', totalOf(health.degraded)),
        figure('late replies', health.late),
        figure('reconnections', health.reconnects),
      ],
    }
  }
  return { kind: 'other', state: 'well', text: TEXTS.other, figures: [] }
}

function leaseFigures(now: LeasedStoreStats, last: LeasedStoreStats, rate: RateFigure): readonly LiveStoreFigure[] {
  return [
    figure('leased keys', now.keys),
    figure('units in hand', now.held, 'units'),
    rate('units granted', now.granted, last.granted),
    rate('units spent', now.spent, last.spent),
    rate('units returned', now.returned, last.returned),
    rate('units expired', now.expired, last.expired),
    rate('requests for leases', now.exchanges, last.exchanges),
    rate('decisions by Redis', now.direct, last.direct),
  ]
}

function figure(name: string, value: number, unit: LiveStoreFigure['unit'] = ''): LiveStoreFigure {
  return { name, value, unit }
}

function totalOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, each) => sum + each, 0)
}

/** The stores of all workers as one. Threads have one table, and all of them tell the same of it. */
export function mergeStores(stores: readonly LiveStore[]): LiveStore {
  const last = stores[stores.length - 1]
  if (stores.length === 1 || last.kind === 'memory') return last
  const away = stores.filter(({ state }) => state === 'degraded')
  const ofSome = `${away.length} of ${stores.length} workers: ${away[0]?.text}`
  return {
    ...(away[0] ?? last),
    ...(away.length > 0 && away.length < stores.length && { text: ofSome }),
    figures: addedFigures(stores.map(({ figures }) => figures)),
    ...(last.leases !== undefined && { leases: addedFigures(stores.map(({ leases = [] }) => leases)) }),
  }
}

function addedFigures(lists: readonly (readonly LiveStoreFigure[])[]): readonly LiveStoreFigure[] {
  return lists[0].map((each, i) => ({ ...each, value: lists.reduce((sum, list) => sum + (list[i]?.value ?? 0), 0) }))
}
