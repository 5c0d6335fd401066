import type { DescriptorEntry } from '../envoy/rate-limit-request.js'
import type { LimitRule } from './limit-rule.js'
import type { Rule } from './rule.js'
import { fits, type PatternTest } from './value-test.js'

/** A place in the rules of a domain: what one entry of a descriptor led to. */
export interface RuleNode {
  /** Absent at the root. */
  readonly rule: Rule | undefined
  readonly children: RuleChildren
  /** The limits for descriptors that end here. */
  readonly limitRule: LimitRule | undefined
}

interface PatternChild {
  readonly test: PatternTest
  readonly key: string
  readonly node: RuleNode
}

/** The rules below a place. Finds the one for an entry: the exact value, else the first pattern that fits, else the bare key. */
export class RuleChildren {
  readonly #exact = new Map<string, Map<string, RuleNode>>()
  readonly #bare = new Map<string, RuleNode>()
  /** In the order of the file. */
  readonly #patterns = new Map<string, PatternChild[]>()
  /** Patterns of keys are tried for every key, so from the first of them on, all patterns are in one list. */
  #forAllKeys: PatternChild[] | undefined
  readonly all: readonly RuleNode[]

  constructor(nodes: readonly (RuleNode & { readonly rule: Rule })[]) {
    this.all = nodes
    for (const node of nodes) this.#add(node, node.rule)
    const patterns = nodes.flatMap((node) => patternOf(node))
    if (patterns.some(({ test }) => test.kind === 'key-prefix')) this.#forAllKeys = patterns
  }

  find({ key, value }: DescriptorEntry): RuleNode | undefined {
    return this.#exact.get(key)?.get(value) ?? this.#findPattern(key, value) ?? this.#bare.get(key)
  }

  #findPattern(key: string, value: string): RuleNode | undefined {
    const patterns = this.#forAllKeys ?? this.#patterns.get(key)
    if (patterns === undefined) return undefined
    for (const pattern of patterns)
      if ((pattern.key === key || pattern.test.kind === 'key-prefix') && fits(pattern.test, key, value))
        return pattern.node
    return undefined
  }

  #add(node: RuleNode, { key, test }: Rule): void {
    // A wildcard is the exact rule for its own text, as in envoyproxy/ratelimit.
    if (test.kind === 'exact' || test.kind === 'wildcard') {
      const values = this.#exact.get(key) ?? new Map<string, RuleNode>()
      this.#exact.set(key, values.set(test.value, node))
    }
    if (test.kind === 'any') this.#bare.set(key, node)
    else if (test.kind !== 'exact') {
      const patterns = this.#patterns.get(key) ?? []
      this.#patterns.set(key, patterns)
      patterns.push({ test, key, node })
    }
  }
}

function patternOf(node: RuleNode & { readonly rule: Rule }): readonly PatternChild[] {
  const { key, test } = node.rule
  return test.kind === 'any' || test.kind === 'exact' ? [] : [{ test, key, node }]
}
