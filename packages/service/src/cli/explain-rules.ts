import {
  type AsyncPolicy,
  type AsyncStore,
  createPolicy,
  type Degraded,
  type Limit,
  type Policy,
  systemClock,
  type Verdict,
} from 'sluice'
import { CODES, type DescriptorEntry, type RateLimitCode } from '../envoy/rate-limit-request.js'
import { type AskedLimit, askedLimits } from '../envoy-rules/asked-limit.js'
import { Calendar } from '../envoy-rules/calendar.js'
import { type ExplainedDescriptor, explainDescriptor } from '../envoy-rules/explain-descriptor.js'
import { type Outcome, outcomeOf } from '../envoy-rules/outcome.js'
import type { EnvoyPolicyFile } from '../envoy-rules/parse-envoy-rules.js'
import { isRequestOver } from '../envoy-rules/rules-decision.js'
import { statusOf } from '../envoy-rules/status-of.js'
import { UsageError } from './command.js'

/** The result of `sluice explain` for rules, as `--json` prints it. */
export interface RulesReport {
  readonly file: string
  readonly domain: string
  readonly hits: number
  readonly overall: string
  readonly descriptors: readonly DescriptorReport[]
  /** The store that was asked: `memory`, or the address of a Redis. */
  readonly store: string
  /** How parts of the report were made without the store, or without the run-time overrides. */
  readonly degraded: readonly Degraded[]
}

export interface DescriptorReport extends ExplainedDescriptor {
  readonly descriptor: string
  readonly code: string
  /** Present if the limit of another descriptor replaces this one. */
  readonly isReplaced?: true
  /** The attributes by which the API and the page know the counts of the descriptor. */
  readonly counts?: readonly { readonly rule: string; readonly descriptor?: string }[]
  readonly limits?: readonly LimitReport[]
  readonly isShadow?: true
  readonly isQuota?: true
}

/** One limit of a rule, and what is left. */
interface LimitReport {
  readonly limit: Limit
  readonly remaining: number
  readonly allowed: boolean
  /** When the week, month or year is over that the limit counts in. */
  readonly until?: string
}

/** What a person asks: a domain, and descriptors. */
export interface AskedRules {
  readonly domain: string
  readonly descriptors: readonly (readonly DescriptorEntry[])[]
  readonly hits: number
}

/** The word between two descriptors of a command line. */
const BETWEEN = ','

/** Reads `KEY=VALUE` words: the entries of a descriptor. A `,` begins the next descriptor. */
export function readDescriptors(words: readonly string[]): AskedRules['descriptors'] {
  const descriptors: DescriptorEntry[][] = [[]]
  for (const word of words) {
    const at = word.indexOf('=')
    if (word === BETWEEN) descriptors.push([])
    else if (at < 1)
      throw new UsageError(`an entry is written key=value, such as remote_address=10.0.0.1, got '${word.slice(0, 60)}'`)
    else descriptors.at(-1)?.push({ key: word.slice(0, at), value: word.slice(at + 1) })
  }
  return descriptors
}

/** The domain that is meant: one may be left out if there is only one. */
export function chosenDomain({ envoy, file }: EnvoyPolicyFile, given: string | undefined): string {
  const domains = [...envoy.domains.keys()]
  if (given !== undefined && envoy.domains.has(given)) return given
  const names = domains.slice(0, 20).join(', ')
  if (given !== undefined) throw new UsageError(`${file} has no domain '${given.slice(0, 60)}'; it has ${names}`)
  if (domains.length === 1) return domains[0]
  throw new UsageError(`${file} has ${domains.length} domains: choose one with --domain, of ${names}`)
}

/** Says what the rules would answer now. Takes nothing. Without a store, as a fresh one would. */
export async function explainRules(
  { envoy, file, policy: data }: EnvoyPolicyFile,
  asked: AskedRules,
  redis?: { readonly store: AsyncStore; readonly shown: string },
): Promise<RulesReport> {
  const { domain, hits } = asked
  const name = data.name ?? 'envoy'
  const policy: Policy | AsyncPolicy =
    redis === undefined ? createPolicy({ ...data, name }) : createPolicy({ ...data, name, store: redis.store })
  const root = envoy.domains.get(domain)
  if (root === undefined) throw new UsageError(`${file} has no domain '${domain}'`)
  const calendar = new Calendar(() => systemClock.now())
  const descriptors = asked.descriptors.map((entries) => ({ entries, isNegativeHits: false, hitsAddend: hits }))
  const limits = askedLimits(root, { domain, descriptors, hitsAddend: hits }, calendar)
  const looked = await Promise.all(limits.map((each) => lookAt(policy, each)))
  return {
    file,
    domain,
    hits,
    overall: isRequestOver(looked.map(({ outcome }) => outcome)) ? 'OVER_LIMIT' : 'OK',
    descriptors: asked.descriptors.map((entries, i) => {
      const own = looked.find(({ outcome }) => outcome.asked.index === i)
      const explained = explainDescriptor(root, entries)
      const code = own === undefined ? CODES.ok : statusOf(own.outcome).code
      return {
        descriptor: entries.map(({ key, value }) => `${key}=${value}`).join(' '),
        ...explained,
        code: codeText(code),
        ...(own === undefined && explained.noLimit === undefined && { isReplaced: true as const }),
        ...(own !== undefined && factsOf(own)),
      }
    }),
    store: redis?.shown ?? 'memory',
    degraded: looked.flatMap(({ verdicts }) => verdicts.flatMap(({ degraded }) => degraded ?? [])),
  }
}

/** What was looked at for one descriptor. */
interface Looked {
  readonly outcome: Outcome
  readonly verdicts: readonly Verdict[]
}

async function lookAt(policy: Policy | AsyncPolicy, asked: AskedLimit): Promise<Looked> {
  const verdicts = await Promise.all(
    asked.demands.map(({ attributes }) => policy.peek(attributes, { cost: asked.hits })),
  )
  return { outcome: outcomeOf(asked, verdicts), verdicts }
}

function factsOf({ outcome: { asked }, verdicts }: Looked): Partial<DescriptorReport> {
  const { demands, rule } = asked
  return {
    counts: demands.map(({ attributes: { rule: level, descriptor } }) =>
      descriptor === undefined ? { rule: level } : { rule: level, descriptor },
    ),
    limits: verdicts.flatMap(({ levels }, i) => {
      const end = demands[i].period?.endMs
      const until = end === undefined ? {} : { until: new Date(end).toISOString() }
      return levels.map(({ limit, decision: { remaining, allowed } }) => ({ limit, remaining, allowed, ...until }))
    }),
    ...(rule?.shadowMode === true && { isShadow: true as const }),
    ...(rule?.quotaMode === true && { isQuota: true as const }),
  }
}

function codeText(code: RateLimitCode): string {
  return code === CODES.overLimit ? 'OVER_LIMIT' : 'OK'
}
