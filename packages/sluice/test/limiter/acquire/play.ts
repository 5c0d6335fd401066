import { createLimiter, type Limiter, memoryStore, type Reservation } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { countedStore } from './counted-store.js'
import { Outcomes, pass } from './outcomes.js'
import { eventsOf, type Guest, KEYS, type Scene, START } from './scenes.js'

/** Every scene is over by then. */
const END_MS = 20_000

export interface Played {
  readonly outcomes: Outcomes
  readonly clock: ManualClock
  readonly limiter: Limiter
  readonly decides: number
}

/** Plays a scene with `acquire`. */
export async function play({ limit, guests }: Scene): Promise<Played> {
  const clock = new ManualClock(START)
  const { store, count } = countedStore(clock)
  const limiter = createLimiter({ name: 'scene', limit, store })
  const outcomes = new Outcomes(clock)
  const controllers = new Map(guests.map(({ name }) => [name, new AbortController()]))
  for (const { atMs, guest, leaves } of eventsOf(guests)) {
    await pass(clock, START + atMs - clock.now())
    const { name, key, cost, maxWaitMs } = guest
    const { signal, ...controller } = controls(controllers.get(name))
    if (leaves) controller.abort()
    else outcomes.watch(name, limiter.acquire(key, { cost, signal, maxWaitMs }))
  }
  await pass(clock, END_MS)
  return { outcomes, clock, limiter, decides: count.decides }
}

function controls(controller = new AbortController()) {
  return { signal: controller.signal, abort: () => controller.abort() }
}

/** When each guest of a scene without `maxWaitMs` is served if the first in line tries again every millisecond. */
export function foretold({ limit, guests }: Scene): Map<string, number> {
  const clock = new ManualClock(START)
  const limiter = createLimiter({ name: 'scene', limit, store: memoryStore({ clock }) })
  const lines = new Map<string, Guest[]>(KEYS.map((key) => [key, []]))
  const slots = new Map<string, { atMs: number; reservation: Reservation }>()
  const gone = new Map<string, number>()
  const tryAll = () => {
    for (const [name, { atMs }] of slots) if (atMs <= clock.now()) depart(name, atMs)
    for (const line of lines.values()) {
      for (let [first] = line; first !== undefined; [first] = line) {
        const reservation = limiter.reserve(first.key, { cost: first.cost })
        if (!reservation.decision.allowed) break
        line.shift()
        const { delayMs } = reservation.decision
        if (delayMs > 0) slots.set(first.name, { atMs: clock.now() + delayMs, reservation })
        else gone.set(first.name, clock.now())
      }
    }
  }
  const depart = (name: string, atMs: number) => {
    slots.delete(name)
    gone.set(name, atMs)
  }
  const leave = (guest: Guest) => {
    slots.get(guest.name)?.reservation.cancel()
    slots.delete(guest.name)
    const line = lines.get(guest.key) ?? []
    if (line.includes(guest)) line.splice(line.indexOf(guest), 1)
  }
  const events = eventsOf(guests)
  while (events.length > 0 || slots.size > 0 || [...lines.values()].some((line) => line.length > 0)) {
    tryAll()
    for (let [event] = events; event !== undefined && START + event.atMs <= clock.now(); [event] = events) {
      events.shift()
      if (event.leaves) leave(event.guest)
      else lines.get(event.guest.key)?.push(event.guest)
      tryAll()
    }
    clock.advance(1)
  }
  return gone
}
