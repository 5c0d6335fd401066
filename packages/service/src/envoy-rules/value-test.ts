import { type Address, type CidrRange, parseAddress, rangeContains } from 'sluice'

/** What a rule asks of the value of its key. */
export type ValueTest =
  /** Any value: the rule has none. */
  | { readonly kind: 'any' }
  | { readonly kind: 'exact'; readonly value: string }
  /** Parts of a value around its `*`, each of which stands for any text. */
  | { readonly kind: 'wildcard'; readonly value: string; readonly parts: readonly string[] }
  /** The key ends with `*` and there is no value: key and value, joined by `_`, begin with this. */
  | { readonly kind: 'key-prefix'; readonly prefix: string }
  | { readonly kind: 'prefix'; readonly prefixes: readonly string[] }
  | { readonly kind: 'cidr'; readonly ranges: readonly CidrRange[]; readonly written: readonly string[] }

/** A test that is tried in the order of the file, after exact values and before the rule for any value. */
export type PatternTest = Exclude<ValueTest, { readonly kind: 'any' | 'exact' }>

/** The test for a key and a `value` of envoyproxy/ratelimit; an empty value is none. */
export function valueTest(key: string, value: string): ValueTest {
  if (value.includes('*')) return { kind: 'wildcard', value, parts: value.split('*') }
  if (value !== '') return { kind: 'exact', value }
  return key.endsWith('*') ? { kind: 'key-prefix', prefix: key.slice(0, -1) } : { kind: 'any' }
}

/** Does the value fit? The key of the entry is the rule's, except for a `key-prefix`. */
export function fits(test: PatternTest, key: string, value: string): boolean {
  switch (test.kind) {
    case 'wildcard':
      return fitsParts(test.parts, value)
    case 'key-prefix':
      return `${key}_${value}`.startsWith(test.prefix)
    case 'prefix':
      return test.prefixes.some((prefix) => value.startsWith(prefix))
    case 'cidr': {
      const address = parseAddress(value)
      return address !== undefined && isInRanges(test.ranges, address)
    }
  }
}

function isInRanges(ranges: readonly CidrRange[], address: Address): boolean {
  return ranges.some((range) => rangeContains(range, address))
}

/** The first part begins the value, the last one ends it, and the others follow each other between them. */
function fitsParts(parts: readonly string[], value: string): boolean {
  const last = parts.length - 1
  const end = value.length - parts[last].length
  if (!value.startsWith(parts[0]) || !value.endsWith(parts[last]) || end < parts[0].length) return false
  let at = parts[0].length
  for (let i = 1; i < last; i++) {
    const found = value.indexOf(parts[i], at)
    if (found < 0) return false
    at = found + parts[i].length
  }
  return at <= end
}

/** The test as the file writes it; empty for any value. */
export function testText(test: ValueTest): string {
  switch (test.kind) {
    case 'exact':
    case 'wildcard':
      return test.value
    case 'prefix':
      return test.prefixes.map((prefix) => `${prefix}*`).join(',')
    case 'cidr':
      return test.written.join(',')
    default:
      return ''
  }
}

/** Key and value as envoyproxy/ratelimit joins them, for its messages and the names of its metrics. */
export function compositeKey(key: string, test: ValueTest): string {
  const text = testText(test)
  return text === '' ? key : `${key}_${text}`
}
