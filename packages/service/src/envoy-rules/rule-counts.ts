import type { PrometheusText } from 'sluice/metrics'
import type { RateLimitRequest } from '../envoy/rate-limit-request.js'
import type { AskedLimit } from './asked-limit.js'
import type { LimitRule } from './limit-rule.js'
import { hasFixedName, metricKeys } from './metric-keys.js'
import type { Outcome } from './outcome.js'

/** From this part of a limit on, hits are near it. */
const NEAR = 0.8
/** Names with values of requests may be as many as clients like. The hits of further ones count under the name of their rule. */
const MOST_SERIES = 10_000
/** A name with longer values counts under the name of its rule, too: clients could fill the memory and the page of metrics with them. */
const MOST_CHARACTERS = 300
/** Limits that come with requests have no rule, so further ones count under this name. */
const OTHERS = 'other'

const PREFIX = 'ratelimit_service_rate_limit'

const COUNTERS = ['total_hits', 'over_limit', 'near_limit', 'within_limit', 'shadow_mode'] as const

const HELP: Readonly<Record<(typeof COUNTERS)[number], string>> = {
  total_hits: 'Hits that were asked for, by rule.',
  over_limit: 'Hits that were over the limit of the rule.',
  near_limit: 'Hits that were taken from the last fifth of the limit.',
  within_limit: 'Hits that were within the limit of the rule.',
  shadow_mode: 'Hits over the limit that a rule in shadow mode let through.',
}

/** One series: the labels, and a count for each of `COUNTERS`. */
interface Series {
  readonly labels: Readonly<Record<string, string>>
  readonly counts: Float64Array
}

/** Counts hits under the names that envoyproxy/ratelimit has in Prometheus: a label for the domain and one for each entry. */
export class RuleCounts {
  readonly #byRule = new WeakMap<LimitRule, Series>()
  readonly #byName = new Map<string, Series>()

  /** Counts what was decided about a request. `isTaken`: the hits were taken. */
  readonly decided = (outcomes: readonly Outcome[], request: RateLimitRequest, isTaken: boolean): void => {
    for (const outcome of outcomes) {
      const { asked } = outcome
      // As there, hits that are given back and rules without a limit are not counted.
      if (asked.isRefund || asked.rule?.isUnlimited === true) continue
      this.#count(this.#seriesOf(asked, request).counts, outcome, isTaken)
    }
  }

  write(text: PrometheusText): void {
    for (const [i, name] of COUNTERS.entries()) {
      text.metric(`${PREFIX}_${name}`, 'counter', HELP[name])
      for (const { labels, counts } of this.#byName.values()) text.sample(labels, counts[i])
    }
  }

  #count(counts: Float64Array, { asked, isOver, tightest }: Outcome, isTaken: boolean): void {
    const { hits, isShadow } = asked
    counts[0] += hits
    counts[isOver ? 1 : 3] += hits
    if (isOver && isShadow) counts[4] += hits
    if (isOver || !isTaken || tightest === undefined) return
    const { quota, remaining } = tightest.decision
    counts[2] += Math.max(0, Math.min(hits, quota - remaining - Math.floor(quota * NEAR)))
  }

  #seriesOf(asked: AskedLimit, { domain, descriptors }: RateLimitRequest): Series {
    const { rule, index } = asked
    const known = rule && this.#byRule.get(rule)
    if (known !== undefined) return known
    const keys = metricKeys(asked, descriptors[index].entries)
    if (rule !== undefined && hasFixedName(rule)) {
      const series = this.#named(domain, keys)
      this.#byRule.set(rule, series)
      return series
    }
    const isShort = keys.reduce((sum, key) => sum + key.length, 0) <= MOST_CHARACTERS
    if (isShort && (this.#byName.size < MOST_SERIES || this.#byName.has(nameOf(domain, keys))))
      return this.#named(domain, keys)
    return this.#named(domain, rule === undefined ? [OTHERS] : rule.path.map(({ key }) => key))
  }

  #named(domain: string, keys: readonly string[]): Series {
    const name = nameOf(domain, keys)
    let series = this.#byName.get(name)
    if (series === undefined) {
      const labels = Object.fromEntries(keys.map((key, i) => [`key${i + 1}`, key]))
      series = { labels: { domain, ...labels }, counts: new Float64Array(COUNTERS.length) }
      this.#byName.set(name, series)
    }
    return series
  }
}

function nameOf(domain: string, keys: readonly string[]): string {
  return JSON.stringify([domain, ...keys])
}
