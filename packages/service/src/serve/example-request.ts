import type { Condition, Level } from 'sluice'

/** Values for attributes that a policy only counts by. */
const USUAL: Readonly<Record<string, string>> = {
  method: 'POST',
  path: '/v1/charges',
  ip: '192.0.2.7',
  merchant: 'acct_1',
}

type Value = string | number | boolean

/**
 * Attributes of a request that meets the first level with conditions, so that a person sees it count. Values that no condition
 * names are usual ones, 1 for a cost, or `'example'`.
 */
export function exampleRequest(
  levels: readonly Level[],
  attributes: readonly string[],
): Readonly<Record<string, Value>> {
  const named = levels.map(valuesOf).find((values) => Object.keys(values).length > 0) ?? {}
  const costs = new Set(levels.map(({ cost }) => cost))
  const usualOf = (name: string) => USUAL[name] ?? (costs.has(name) ? 1 : 'example')
  return Object.fromEntries(attributes.map((name) => [name, named[name] ?? usualOf(name)]))
}

/** A value for each condition of a level that asks for certain values. */
function valuesOf({ when = {} }: Level): Readonly<Record<string, Value>> {
  const found = Object.entries(when).flatMap(([name, condition]) => {
    const value = exampleOf(name, condition)
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(found)
}

function exampleOf(name: string, condition: Condition): Value | undefined {
  const first = [condition].flat().find((each) => each !== null)
  if (typeof first !== 'object') return typeof first === 'string' ? textOf(name, first) : first
  if (first === null) return undefined
  if ('path' in first) return textOf('path', [first.path].flat()[0])
  return 'cidr' in first ? textOf('ip', [first.cidr].flat()[0]) : undefined
}

/** A path that a pattern matches, the first address of a range, or the text itself. */
function textOf(name: string, text: string): string {
  if (name === 'ip') return text.replace(/\/.*$/, '')
  return name === 'path' ? text.replace(/\/\*\*$/, '/example').replace(/\/(:\w+|\*)(?=\/|$)/g, '/1') : text
}
