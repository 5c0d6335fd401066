import type { Level, Limit } from 'sluice'
import { type LimitRule, openPlacesOf, type RuleLevel } from './limit-rule.js'
import type { CalendarUnit, DomainRules, RateLimitBlock, Rule } from './rule.js'
import { calendarName, requestLimitName, ruleName } from './rule-name.js'
import { RuleChildren, type RuleNode } from './rule-node.js'
import { compositeKey } from './value-test.js'

/** The attributes that the levels ask about. */
export interface RuleAttributes {
  /** The name of the level. */
  readonly rule: string
  /** The values that the rule leaves open, and the period if it has one. */
  readonly descriptor: string | undefined
}

/** The rules of all files, ready for decisions. */
export interface EnvoyRules {
  readonly domains: ReadonlyMap<string, RuleNode>
  /**
   * The rules as levels of a policy. So everything that works on levels works on rules: metrics, the page, `reset`, `block` and
   * run-time overrides.
   */
  readonly levels: readonly Level[]
  /** All rules are in shadow mode, and limits that come with requests as well. */
  readonly isShadow: boolean
}

/** Makes the tree that finds rules, and the levels that count for them. `isShadow`: nothing denies. */
export function compileRules(domainRules: readonly DomainRules[], isShadow: boolean): EnvoyRules {
  const levels: Level[] = []
  const domains = new Map(
    domainRules.map((rules) => {
      const root = new DomainCompiler(rules.domain, levels, isShadow).node(undefined, [], rules.descriptors)
      levels.push(requestLimitLevel(rules.domain, isShadow))
      return [rules.domain, root] as const
    }),
  )
  return { domains, levels, isShadow }
}

class DomainCompiler {
  readonly #domain: string
  readonly #levels: Level[]
  readonly #isShadow: boolean

  constructor(domain: string, levels: Level[], isShadow: boolean) {
    this.#domain = domain
    this.#levels = levels
    this.#isShadow = isShadow
  }

  node(rule: Rule | undefined, path: readonly Rule[], descriptors: readonly Rule[]): RuleNode {
    const limitRule = rule?.rateLimit === undefined ? undefined : this.#limitRule(rule, rule.rateLimit, path)
    const children = descriptors.map((child) => ({
      ...this.node(child, [...path, child], child.descriptors),
      rule: child,
    }))
    return { rule, limitRule, children: new RuleChildren(children) }
  }

  #limitRule(rule: Rule, { name, replaces, limits }: RateLimitBlock, path: readonly Rule[]): LimitRule {
    const openPlaces = openPlacesOf(path)
    const shadowMode = rule.shadowMode || this.#isShadow
    const own = ruleName(
      this.#domain,
      path.map(({ key, test }) => compositeKey(key, test)),
    )
    const units = [...new Set(limits.map(({ calendar }) => calendar))]
    const levels = units.map((calendar): RuleLevel => {
      return { name: calendar === undefined ? own : calendarName(own, calendar), calendar }
    })
    for (const { name: level, calendar } of levels)
      this.#levels.push({
        name: level,
        when: { rule: level },
        ...((openPlaces.length > 0 || calendar !== undefined) && { key: ['descriptor'] }),
        limit: limitsOf(limits, calendar),
        ...(shadowMode && { shadow: true }),
      })
    return {
      domain: this.#domain,
      path,
      name,
      replaces,
      shadowMode,
      quotaMode: rule.quotaMode,
      countOverLimit: rule.countOverLimit,
      isUnlimited: limits.every(({ limit }) => limit.algorithm === 'unlimited'),
      metadata: rule.metadata,
      levels,
      openPlaces,
    }
  }
}

function limitsOf(limits: RateLimitBlock['limits'], unit: CalendarUnit | undefined): Limit | readonly Limit[] {
  const own = limits.filter(({ calendar }) => calendar === unit).map(({ limit }) => limit)
  return own.length === 1 ? own[0] : own
}

/** Limits that come with a request replace the limit of this level, whatever rule the descriptor has. */
function requestLimitLevel(domain: string, isShadow: boolean): Level {
  const name = requestLimitName(domain)
  return {
    name,
    when: { rule: name },
    key: ['descriptor'],
    limit: { algorithm: 'unlimited' },
    ...(isShadow && { shadow: true }),
  }
}
