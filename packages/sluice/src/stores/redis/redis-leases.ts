import { checkCost, checkKey, checkUnits } from '../../checks/check-value.js'
import { invalidValue } from '../../errors.js'
import { arithmeticOf, type Decision, type Limit, LONGEST_LEASE_US, leaseUs } from '../../limits/index.js'
import type { Fallback } from '../fallback.js'
import type { LeaseAnswer, LeaseFailure, LeaseRequest, Leases } from '../leases.js'
import { type DemandReport, decisionOf, type Reply } from './batch.js'
import { ForeignState } from './failures.js'
import type { KeyLayout } from './key-layout.js'
import type { Link } from './link.js'

/** Lends units of states in Redis. The script exchanges them, one step of a batch for each request. */
export class RedisLeases implements Leases {
  readonly #link: Link
  readonly #layout: KeyLayout
  readonly #fallback: Fallback

  constructor(link: Link, layout: KeyLayout, fallback: Fallback) {
    this.#link = link
    this.#layout = layout
    this.#fallback = fallback
  }

  leaseUs(limit: Limit, longestUs: number): number {
    return leaseUs(limit, longestUs)
  }

  async exchange(request: LeaseRequest): Promise<LeaseAnswer | LeaseFailure> {
    checkRequest(request)
    const { name, limit, key, node, sequence } = request
    const keys = [this.#layout.of(name, limit, key), this.#layout.ofGuard(name, limit, key, node)] as const
    return this.#link.ask<LeaseAnswer | LeaseFailure>({
      keys,
      addTo: (batch) => batch.lease(...keys, limit, request, sequence),
      read: (reply) => readAnswer(keys[0], limit, reply),
      fail: () => ({ instead: (demands) => this.#fallback.decide(demands) }),
    })
  }
}

/** A request shares a batch with other callers' demands: a wrong one must not get that far. */
function checkRequest({ name, limit, key, node, sequence, want, leaseUs: lengthUs, returns }: LeaseRequest): void {
  checkKey(name, 'name')
  checkKey(key)
  checkKey(node, 'node')
  checkCost(want, 'want')
  checkUnits('leaseUs', lengthUs)
  checkUnits('sequence', sequence)
  for (const { roundUs, spent, unspent } of returns) {
    checkUnits('roundUs', roundUs, Number.MAX_SAFE_INTEGER)
    checkCost(spent, 'spent')
    checkCost(unspent, 'unspent')
  }
  if (leaseUs(limit, LONGEST_LEASE_US) > 0) return
  throw invalidValue('limit', 'a token bucket or a window of at least 20 ms that is aligned to the epoch', limit)
}

function readAnswer(key: string, limit: Limit, reply: Reply): LeaseAnswer | ForeignState {
  const report = reply.next(arithmeticOf(limit))
  if (report === undefined) return new ForeignState([key])
  const [granted, roundUs] = [reply.number(), reply.number()]
  return {
    granted,
    roundUs,
    lastsMs: (roundUs - reply.nowUs) / 1_000,
    isBlocked: report.blockedUs > 0,
    decisionFor: describing(limit, report),
  }
}

/** Describes a report to requests of any cost, from a copy: the reply of a large batch is not kept for it. */
function describing(limit: Limit, report: DemandReport): (cost: number) => Decision {
  const arithmetic = arithmeticOf(limit)
  const numbers = Array.from({ length: arithmetic.remote.reportLength }, (_, i) => report.numbers[report.at + i])
  // The usual description, which counts no unit on lease, tells when units come if nodes report.
  const kept = { ...report, numbers, at: 0, leases: undefined }
  const { remaining } = arithmetic.remote.decision(kept, 0, report.fits)
  let known: { readonly cost: number; readonly decision: Decision } | undefined
  return (cost) => {
    // Most requests for a key have the same cost.
    if (known?.cost !== cost) {
      const fits = cost === 0 ? report.fits : cost <= remaining
      known = { cost, decision: decisionOf(arithmetic, { ...kept, fits }, cost) }
    }
    return known.decision
  }
}
