import type { Decision } from '../../limits/index.js'
import type { Answer, AsyncStore, Demand } from '../store.js'
import type { Promised } from './hand.js'
import type { LeasedKey, Outcome } from './leased-key.js'

/** The demands of a request for one leased key, added up. */
interface Part {
  readonly leased: LeasedKey
  /** The places of its demands in the request. */
  readonly places: number[]
  cost: number
  isShadow: boolean
  /** Must the store be asked if there are too few units? */
  blocks: boolean
  /** The units that were set aside for it, and when they count as taken. */
  promised: Promised | undefined
  /** The denial, if this process knows that the store would deny. */
  denial: Decision | undefined
}

/** Decisions and times by place in the request. */
interface Draft {
  readonly decisions: Decision[]
  readonly takenUs: number[]
}

/**
 * Decides a request of several demands: all of them are taken, or none. Demands for leased keys are met from the hand, after
 * a wait for more units if the hand is short; the store is asked for all others in one call. Units from the hand are set
 * aside meanwhile, and then spent or put back.
 */
export async function decideTogether(
  demands: readonly Demand[],
  find: (demand: Demand) => LeasedKey | undefined,
  store: Pick<AsyncStore, 'decide' | 'refund'>,
): Promise<Answer> {
  const { parts, others } = partsOf(demands, find)
  for (const part of parts) promise(part)
  if (others.length === 0 && parts.some(isOpen)) await waitForUnits(parts)
  const unmet = parts.filter(({ promised }) => promised === undefined)
  const draft: Draft = { decisions: [], takenUs: demands.map(() => 0) }
  if (others.length === 0 && unmet.every(({ denial }) => denial !== undefined)) {
    for (const part of unmet) describe(part, part.denial as Decision, 0, draft)
    return settle(
      parts,
      unmet.every(({ isShadow }) => isShadow),
      draft,
    )
  }
  // The store decides these exactly, so its answer also replaces denials that this process knows.
  const asked = [...others, ...unmet.flatMap(({ places }) => places)].sort((a, b) => a - b)
  for (const { blocks, leased, cost } of unmet) {
    leased.expect(cost)
    if (blocks) leased.giveBack()
  }
  const request = { demands, parts, draft, store }
  let allowed = await askStore(request, asked)
  // The store does not count the units in hand. If they are what it lacked, they are given back, and it is asked again.
  const lacked = allowed ? [] : unmet.filter((part) => part.leased.giveBackIfDenied(part.cost, firstOf(part, draft)))
  if (lacked.length > 0) allowed = await askStore(request, asked)
  for (const { leased, places } of unmet) {
    for (const place of places) draft.decisions[place] = leased.withHand(draft.decisions[place])
    if (allowed) leased.refill()
  }
  return settle(parts, allowed, draft)
}

/** A request of which some parts have their units in hand. */
interface Request {
  readonly demands: readonly Demand[]
  readonly parts: readonly Part[]
  readonly draft: Draft
  readonly store: Pick<AsyncStore, 'decide' | 'refund'>
}

/**
 * Asks the store for the demands at these places. If its answer takes so long that units in hand are over, asks for those
 * demands too, until all units that are still promised can be spent. Returns whether the store allows all of it: otherwise what
 * it took is given back. If it fails, the promised units are put back too.
 */
async function askStore({ demands, parts, draft, store }: Request, asked: readonly number[]): Promise<boolean> {
  const taken: (() => Promise<void>)[] = []
  const refundAll = () => Promise.all(taken.map((refund) => refund()))
  for (let places = asked; places.length > 0; places = releaseLate(parts)) {
    let answer: Answer
    try {
      answer = await store.decide(places.map((i) => demands[i]))
    } catch (error) {
      settle(parts, false, draft)
      await refundAll()
      throw error
    }
    fill(places, answer, draft)
    if (!answer.allowed) {
      await refundAll()
      return false
    }
    for (const [i, place] of places.entries()) {
      const { allowed, delayMs, degraded } = answer.decisions[i]
      const demand = demands[place]
      if (!allowed || demand.cost === 0) continue
      taken.push(async () => {
        const units = { atUs: answer.takenUs[i], cost: demand.cost, delayMs, degraded }
        draft.decisions[place] = await store.refund(demand, units)
      })
    }
  }
  return true
}

/** Puts back promised units whose time is over, and returns the places of their demands. */
function releaseLate(parts: readonly Part[]): number[] {
  return parts.flatMap((part) => {
    const { leased, promised, places } = part
    if (promised === undefined || !leased.isOver(promised)) return []
    leased.release(promised)
    part.promised = undefined
    return places
  })
}

/** Groups the demands for leased keys, and lists the places of all others. */
function partsOf(demands: readonly Demand[], find: (demand: Demand) => LeasedKey | undefined) {
  const parts = new Map<LeasedKey, Part>()
  const others: number[] = []
  for (const [place, demand] of demands.entries()) {
    const leased = find(demand)
    if (leased === undefined) {
      others.push(place)
      continue
    }
    const part = parts.get(leased) ?? newPart(leased)
    parts.set(leased, part)
    part.places.push(place)
    part.cost += demand.cost
    part.isShadow &&= demand.shadow === true
    part.blocks ||= demand.blockFor !== undefined && demand.cost > 0
  }
  return { parts: [...parts.values()], others }
}

function newPart(leased: LeasedKey): Part {
  return { leased, places: [], cost: 0, isShadow: true, blocks: false, promised: undefined, denial: undefined }
}

function promise(part: Part): void {
  const { leased, cost, blocks } = part
  if (cost === 0) {
    const look = leased.decideNow(0, false)
    if (look?.allowed === true) part.promised = []
    else part.denial = look
    return
  }
  part.promised = leased.promiseNow(cost)
  if (part.promised === undefined) part.denial = leased.denialNow(cost, blocks)
}

/** Is it unknown whether its units are there? */
function isOpen({ promised, denial }: Part): boolean {
  return promised === undefined && denial === undefined
}

/**
 * Asks for units on lease for the parts that are open, all at the same time, so that a request of several leased keys costs
 * no more calls than one for each. Parts that cannot wait stay open, and so do those whose units are over meanwhile.
 */
async function waitForUnits(parts: readonly Part[]): Promise<void> {
  const open = parts.filter(isOpen)
  if (!open.every(({ leased, cost }) => cost > 0 && leased.canAsk(cost))) return
  const waitFor = async (part: Part) => {
    const { leased, cost, blocks } = part
    const outcome = await new Promise<Outcome>((resolve) => leased.ask(cost, resolve))
    if (outcome === undefined) part.denial = blocks ? leased.denialNow(cost, true) : leased.denial(cost)
    else if (outcome !== 'late' && !('instead' in outcome)) part.promised = outcome
  }
  await Promise.all(open.map(waitFor))
  releaseLate(parts)
}

/** Spends what was set aside, or puts it back. Parts without promised units have their decisions already. */
function settle(parts: readonly Part[], allowed: boolean, draft: Draft): Answer {
  for (const part of parts) {
    const { leased, promised } = part
    if (promised === undefined) continue
    const decision = allowed ? leased.spend(promised) : leased.release(promised)
    describe(part, decision, leased.hand.takenUs, draft)
  }
  return { allowed, ...draft }
}

/** The store adds up the demands of a part, so it says the same of each. */
function firstOf({ places }: Part, { decisions }: Draft): Decision {
  return decisions[places[0]]
}

function fill(places: readonly number[], { decisions, takenUs }: Answer, draft: Draft): void {
  for (const [i, place] of places.entries()) {
    draft.decisions[place] = decisions[i]
    draft.takenUs[place] = takenUs[i]
  }
}

/** Every demand gets a decision of its own. */
function describe({ places }: Part, decision: Decision, takenUs: number, draft: Draft): void {
  for (const place of places) {
    draft.decisions[place] = { ...decision }
    draft.takenUs[place] = takenUs
  }
}
