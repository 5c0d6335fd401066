import type { DescriptorEntry } from '../envoy/rate-limit-request.js'
import type { EnvoyRules } from './compile-rules.js'
import type { Rule } from './rule.js'
import type { RuleNode } from './rule-node.js'

/** A request for Envoy's service, as JSON. */
interface ExampleRequest {
  readonly domain: string
  readonly descriptors: readonly { readonly entries: readonly DescriptorEntry[] }[]
}

/** A request that leads to the first limit of the rules, so that a person sees it count. */
export function exampleDescriptor({ domains }: EnvoyRules): ExampleRequest {
  for (const [domain, root] of domains) {
    const path = pathToLimit(root)
    if (path !== undefined) return { domain, descriptors: [{ entries: path.map(exampleEntry) }] }
  }
  const [domain = 'example'] = domains.keys()
  return { domain, descriptors: [{ entries: [{ key: 'key', value: 'value' }] }] }
}

function pathToLimit({ children }: RuleNode): readonly Rule[] | undefined {
  for (const node of children.all) {
    if (node.rule === undefined) continue
    if (node.limitRule !== undefined) return node.limitRule.path
    const below = pathToLimit(node)
    if (below !== undefined) return below
  }
  return undefined
}

/** An entry that fits the rule, with a value that says that it is an example where any fits. */
function exampleEntry({ key, test }: Rule): DescriptorEntry {
  switch (test.kind) {
    case 'exact':
      return { key, value: test.value }
    case 'wildcard':
      return { key, value: test.value.replaceAll('*', 'example') }
    case 'prefix':
      return { key, value: `${test.prefixes[0]}example` }
    case 'cidr':
      return { key, value: test.written[0].replace(/\/.*$/, '') }
    case 'key-prefix':
      return { key: test.prefix, value: 'example' }
    case 'any':
      return { key, value: 'example' }
  }
}
