import { parseCidrRange } from 'sluice'
import { checkKeys, type Findings } from './check-keys.js'
import { FieldReader } from './field-reader.js'
import { readRateLimit } from './read-rate-limit.js'
import type { DomainRules, Rule } from './rule.js'
import type { RulesText } from './rules-text.js'
import { UnreachedRules } from './unreached-rules.js'
import { compositeKey, type ValueTest, valueTest } from './value-test.js'

/** The rules of one file. Use them only if there are no faults. */
export interface ReadRules extends Findings {
  readonly rules: DomainRules
}

/** Reads the rules of one file, and finds every problem of it. */
export function readRules({ root, finder, data }: RulesText): ReadRules {
  const findings: Findings = { faults: [], warnings: [] }
  if (root !== undefined) checkKeys(root, finder, findings)
  const fields = new FieldReader(root ?? { kind: 'map', offset: 0, entries: [] }, finder, findings)
  const domain = fields.text('domain')
  if (domain === '') fields.fault('config file cannot have empty domain', 'domain')
  const descriptors = readList(fields, 'descriptors', `${domain}.`, data)
  return { rules: { domain, descriptors }, ...findings }
}

/** Reads `descriptors`. `data` is the plain data of the map that has them. */
function readList(fields: FieldReader, name: string, path: string, data: unknown): readonly Rule[] {
  const items = ((data as Record<string, unknown>)[name] ?? []) as readonly unknown[]
  const seen = new Set<string>()
  const unreached = new UnreachedRules()
  return fields.maps(name).map((map, i) => {
    const reader = new FieldReader(map, fields.finder, fields.findings)
    const rule = readDescriptor(reader, path, items[i])
    const composite = compositeKey(rule.key, rule.test)
    if (rule.key !== '' && seen.has(composite))
      reader.fault(`duplicate descriptor composite key '${path}${composite}'`.slice(0, 300), 'key')
    seen.add(composite)
    unreached.add(rule, reader)
    return rule
  })
}

function readDescriptor(fields: FieldReader, path: string, data: unknown): Rule {
  const key = fields.text('key')
  if (key === '') fields.fault('descriptor has empty key', fields.has('key') ? 'key' : undefined)
  const test = readTest(fields, key)
  const composite = compositeKey(key, test)
  const shareThreshold = fields.flag('share_threshold')
  if (shareThreshold && (test.kind === 'any' || test.kind === 'exact'))
    fields.fault(
      `share_threshold can only be used with wildcard values (ending with '*'), but found key '${composite.slice(0, 100)}'`,
      'share_threshold',
    )
  const quotaMode = fields.flag('quota_mode')
  const shadowMode = fields.flag('shadow_mode')
  return {
    key,
    test,
    rateLimit: readRateLimit(fields),
    shadowMode,
    quotaMode,
    detailedMetric: fields.flag('detailed_metric'),
    valueToMetric: fields.flag('value_to_metric'),
    shareThreshold,
    countOverLimit: fields.has('count_over_limit') ? fields.flag('count_over_limit') : quotaMode,
    metadata: readMetadata(fields, data),
    descriptors: readList(fields, 'descriptors', `${path}${composite}.`, data ?? {}),
  }
}

function readTest(fields: FieldReader, key: string): ValueTest {
  const given = ['value', 'prefix', 'cidr'].filter((name) => fields.has(name))
  if (given.length > 1)
    fields.fault(`a descriptor has one of value, prefix and cidr, got ${given.join(' and ')}`, given[1])
  if (fields.has('prefix')) return { kind: 'prefix', prefixes: fields.texts('prefix') }
  if (!fields.has('cidr')) return valueTest(key, fields.text('value'))
  const written = fields.texts('cidr')
  const ranges = written.flatMap((text) => {
    try {
      return [parseCidrRange('cidr', text)]
    } catch (error) {
      fields.fault((error as Error).message, 'cidr')
      return []
    }
  })
  return { kind: 'cidr', ranges, written }
}

function readMetadata(fields: FieldReader, data: unknown): Rule['metadata'] {
  const node = fields.node('metadata')
  if (node === undefined) return undefined
  if (node.kind === 'map') return (data as { metadata: Record<string, unknown> }).metadata
  fields.wrong('metadata', 'a map')
  return undefined
}
