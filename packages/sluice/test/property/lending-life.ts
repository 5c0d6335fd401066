/** A fleet of nodes that take leases and follow the rules, and the laws that hold for all of them together. */
import assert from 'node:assert/strict'
import fc, { type Arbitrary } from 'fast-check'
import { arithmeticOf, type LeaseReturn } from '../../src/limits/index.js'
import type { Awaitable } from '../../src/stores/store.js'
import type { LeasableLimit, ModelRequest } from './lending-model.js'

/** A store of one key that lends, on a clock that the life moves. */
export interface Lending {
  setTime(nowUs: number): void
  exchange(request: ModelRequest): Awaitable<{ readonly granted: number; readonly roundUs: number }>
  /** Takes a unit directly. */
  decideOne(): Awaitable<boolean>
  /** Checks what must hold between any two calls. */
  check?(): void
}

interface Lot {
  readonly roundUs: number
  readonly endsUs: number
  units: number
  spent: number
}

interface FleetNode {
  readonly name: string
  sequence: number
  lots: Lot[]
  last: ModelRequest | undefined
}

/** Units that were admitted at a time. */
interface Admitted {
  readonly us: number
  readonly units: number
}

interface LifeStep {
  readonly advanceUs: number
  readonly node: number
  readonly units: number
  readonly deed: 'ask' | 'spend' | 'decide' | 'die' | 'again'
  /** How long a request, and its answer, are under way. */
  readonly underWayUs: readonly [number, number]
  readonly isAnswerLost: boolean
  readonly leaseUs: number
}

/** Clocks of a node and of the store may differ in speed by one in a hundred. */
const SURE = 0.99
const START_US = 1_767_225_612_345_678

export const fleetLives: Arbitrary<readonly LifeStep[]> = fc.array(
  fc.record({
    advanceUs: fc.constantFrom(0, 0, 0, 0, 1, 5_000, 60_000, 100_000, 250_000, 500_000, 1_000_000, 3_000_000),
    node: fc.nat({ max: 1 }),
    units: fc.constantFrom(0, 1, 2, 5, 30),
    deed: fc.constantFrom('ask', 'ask', 'ask', 'spend', 'spend', 'spend', 'decide', 'decide', 'again', 'again', 'die'),
    underWayUs: fc.tuple(fc.constantFrom(0, 0, 40_000), fc.constantFrom(0, 0, 40_000)),
    isAnswerLost: fc.integer({ min: 0, max: 9 }).map((chance) => chance === 0),
    leaseUs: fc.constantFrom(5_000, 60_000, 250_000),
  }),
  { minLength: 10, maxLength: 60 },
)

/** Lives through the steps and returns what was admitted, in order. */
export async function liveThrough(lending: Lending, life: readonly LifeStep[]): Promise<readonly Admitted[]> {
  const admitted: Admitted[] = []
  let born = 0
  const newNode = (): FleetNode => ({ name: `node-${++born}`, sequence: 0, lots: [], last: undefined })
  const nodes = [newNode(), newNode()]
  let nowUs = START_US
  const advance = (us: number) => {
    nowUs += us
    lending.setTime(nowUs)
  }
  const admit = (units: number) => {
    if (units > 0) admitted.push({ us: nowUs, units })
  }
  advance(0)

  for (const { advanceUs, node: place, units, deed, underWayUs, isAnswerLost, leaseUs } of life) {
    advance(advanceUs)
    const node = nodes[place]
    if (deed === 'die') nodes[place] = newNode()
    else if (deed === 'decide') admit(await takenDirectly(lending, units))
    else if (deed === 'spend') admit(spent(node, nowUs, units))
    else if (deed === 'again' && node.last !== undefined) await lending.exchange(node.last)
    else if (deed === 'ask') {
      const sentUs = nowUs
      const request = {
        node: node.name,
        sequence: ++node.sequence,
        want: units,
        leaseUs,
        returns: returned(node, units),
      }
      node.last = request
      advance(underWayUs[0])
      const { granted, roundUs } = await lending.exchange(request)
      const endsUs = sentUs + Math.floor(SURE * (roundUs - nowUs))
      advance(underWayUs[1])
      if (granted > 0 && !isAnswerLost) node.lots.push({ roundUs, endsUs, units: granted, spent: 0 })
    }
    lending.check?.()
  }
  return admitted
}

/** Takes units one by one, and returns how many there were. */
async function takenDirectly(lending: Lending, units: number): Promise<number> {
  const answers = await Promise.all(Array.from({ length: units }, () => lending.decideOne()))
  return answers.filter((allowed) => allowed).length
}

/** Spends at most so many units, each before the end of its lease, and returns how many. */
function spent(node: FleetNode, nowUs: number, units: number): number {
  let left = units
  for (const lot of node.lots) {
    const now = lot.endsUs > nowUs ? Math.min(left, lot.units) : 0
    lot.units -= now
    lot.spent += now
    left -= now
  }
  return units - left
}

/** Says what was spent and gives back all but a few units of each lease. From now on they are gone from the node. */
function returned(node: FleetNode, keep: number): readonly LeaseReturn[] {
  const returns = node.lots.map((lot) => {
    const unspent = Math.max(0, lot.units - keep)
    const { roundUs, spent } = lot
    lot.units -= unspent
    lot.spent = 0
    return { roundUs, spent, unspent }
  })
  node.lots = node.lots.filter(({ units }) => units > 0)
  return returns
}

/** The law of a limit, over all that was admitted to the fleet. */
export function assertLaw(limit: LeasableLimit, admitted: readonly Admitted[]): void {
  if (limit.algorithm === 'token-bucket') assertBucketLaw(limit, admitted)
  else assertWindowLaw(limit, admitted)
}

/** In any interval of length T at most `capacity` + `refill`·T units. */
function assertBucketLaw(limit: LeasableLimit, admitted: readonly Admitted[]): void {
  const [partsPerUnit, partsPerUs, capacity] = arithmeticOf(limit).remote.parameters
  // The largest sum of an interval that ends now, less the refill since its first admission.
  let most = 0
  let lastUs = START_US
  for (const { us, units } of admitted) {
    most = Math.max(0, most - (us - lastUs) * partsPerUs) + units * partsPerUnit
    lastUs = us
    assert(most <= capacity * partsPerUnit, `${most / partsPerUnit} units at ${us - START_US} µs`)
  }
}

/** The weighted estimate never exceeds the quota. A fixed window is one slice, and nothing of it is left after its end. */
function assertWindowLaw(limit: LeasableLimit, admitted: readonly Admitted[]): void {
  const [windowUs, , quota, slices] = arithmeticOf(limit).remote.parameters
  const sliceUs = windowUs / (slices ?? 1)
  const inSlice = (slice: number, untilUs: number) =>
    admitted
      .filter(({ us }) => us <= untilUs && Math.floor(us / sliceUs) === slice)
      .reduce((sum, { units }) => sum + units, 0)
  for (const { us } of admitted) {
    const current = Math.floor(us / sliceUs)
    let estimate = inSlice(current, us)
    for (let back = 1; back < (slices ?? 1); back++) estimate += inSlice(current - back, us)
    const leftOfSlice = 1 - (us - current * sliceUs) / sliceUs
    if (slices !== undefined) estimate += inSlice(current - slices, us) * leftOfSlice
    assert(estimate <= quota + 1e-6, `${estimate} units of ${quota} at ${us - START_US} µs`)
  }
}
