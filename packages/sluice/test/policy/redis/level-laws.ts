import assert from 'node:assert/strict'
import type { Level, LevelDecision, Verdict } from '../../../src/index.js'
import { type LimitCase, larger } from '../../property/arbitraries.js'
import { type Model, modelOf } from '../../property/exact-model.js'
import { ADDRESSES, type RandomRequest } from './random-policies.js'

/** A state as the law sees it: what was taken from it, under one limit. */
interface Watched {
  readonly limit: string
  readonly given: LimitCase
  readonly model: Model
  readonly taken: { readonly us: bigint; readonly cost: bigint }[]
}

/** Watches every level of a policy by itself, from nothing but the requests and what they were told. */
export class LevelLaws {
  readonly #levels: ReadonlyMap<string, Level>
  readonly #cases: ReadonlyMap<string, LimitCase>
  readonly #states = new Map<string, Watched>()
  checked = 0

  constructor(levels: readonly Level[], cases: ReadonlyMap<string, LimitCase>) {
    this.#levels = new Map(levels.map((level) => [level.name, level]))
    this.#cases = cases
  }

  see(us: bigint, request: RandomRequest, callCost: number, verdict: Verdict): void {
    const places = new Map<string, number>()
    for (const each of verdict.levels) {
      const place = (places.get(each.name) ?? 0) + 1
      places.set(each.name, place)
      const level = this.#levels.get(each.name) as Level
      const apart = apartBy(
        level,
        verdict.levels.filter(({ name }) => name === each.name),
      )
      this.#check(
        us,
        this.#stateOf(level, place, request, each, apart),
        costOf(level, request, callCost),
        each,
        verdict,
      )
    }
  }

  #stateOf(level: Level, place: number, request: RandomRequest, { limit }: LevelDecision, apart: string): Watched {
    const parts = (level.key as readonly (keyof RandomRequest)[]).map((part) =>
      part === 'ip' ? ADDRESSES[request.ip] : request[part],
    )
    const id = JSON.stringify([level.name, apart, place, limit.algorithm, parts])
    const text = JSON.stringify(limit)
    let state = this.#states.get(id)
    if (state === undefined) {
      const given = this.#cases.get(text) as LimitCase
      state = { limit: text, given, model: modelOf(given), taken: [] }
      this.#states.set(id, state)
    }
    assert.equal(state.limit, text, 'a key has the same limit all the time')
    return state
  }

  #check(us: bigint, state: Watched, cost: number, { decision }: LevelDecision, { allowed }: Verdict): void {
    this.checked++
    if (!decision.allowed) {
      assert.equal(state.model(us, BigInt(cost)).allowed, false, 'denied what its law allows')
      return
    }
    if (allowed && cost > 0) state.taken.push({ us, cost: BigInt(cost) })
    assert(keepsLaw(state), `more than ${state.limit} allows`)
    const exact = state.model(us, allowed ? BigInt(cost) : 0n)
    assert.equal(exact.allowed, true, 'allowed what its law denies')
    assert.equal(BigInt(decision.remaining), exact.remaining)
  }
}

/** What is asked by the override in force, if that is more than the key: then it has states of its own. */
function apartBy({ key, overrides = [] }: Level, inForce: readonly LevelDecision[]): string {
  const limits = JSON.stringify(inForce.map(({ limit }) => limit))
  const override = overrides.find(({ limit }) => JSON.stringify(limit) === limits)
  if (override === undefined) return ''
  const isByKey = Object.keys(override.when).every((attribute) => (key as readonly string[]).includes(attribute))
  return isByKey ? '' : JSON.stringify(override.when)
}

/** Units in any interval that ends now, against what the limit promises at most. */
function keepsLaw({ given: { limit, quota, rate, windowUs, slices }, taken }: Watched): boolean {
  let units = 0n
  const endUs = taken.at(-1)?.us ?? 0n
  for (const { us, cost } of taken.toReversed()) {
    units += cost
    const lastsUs = endUs - us
    if (limit.algorithm === 'token-bucket' || limit.algorithm === 'leaky-bucket') {
      if (units * rate.perUs > quota * rate.perUs + rate.units * lastsUs) return false
    } else if (limit.algorithm === 'sliding-log' || limit.algorithm === 'concurrency') {
      if (lastsUs < windowUs && units > quota) return false
    } else if (limit.algorithm === 'fixed-window') {
      // As many windows as an interval can touch.
      if (units > quota * (lastsUs / windowUs + 2n)) return false
    } else {
      // A sliding window is never more than a slice short of a whole one.
      const wholeUs = windowUs - larger(windowUs / slices, 1n)
      if (slices > 1n && lastsUs < wholeUs && units > quota) return false
    }
  }
  return true
}

function costOf({ cost }: Level, { tokens }: RandomRequest, callCost: number): number {
  if (cost === 'tokens') return tokens ?? callCost
  return typeof cost === 'number' ? cost : callCost
}
