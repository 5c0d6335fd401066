import type { OverrideKey } from 'sluice'

/** The parts of a policy that the page reads from `GET /v1/admin/policy`. */
export interface LevelData {
  readonly name: string
  readonly key?: string | readonly string[]
}

/** A run-time override, as `GET /v1/admin/overrides` lists it. */
export interface ListedOverride {
  readonly level: string
  readonly key: string | readonly string[]
  readonly untilMs?: number
}

/**
 * The key of a level as overrides take it: the value of its attribute, or a list if the key has several or none. `undefined`
 * if the request lacks one.
 */
export function overrideKey(
  level: LevelData,
  attributes: Readonly<Record<string, string>>,
): Exclude<OverrideKey, number> | undefined {
  const names = [level.key ?? []].flat()
  const values = names.flatMap((name) => (Object.hasOwn(attributes, name) ? [attributes[name]] : []))
  if (values.length < names.length) return undefined
  return values.length === 1 ? values[0] : values
}

/** Is the override about this level and key? An address is listed as its network, so such a key may not be found. */
export function isOverrideOf(listed: ListedOverride, level: string, key: OverrideKey | undefined): boolean {
  return key !== undefined && listed.level === level && keyText(listed.key) === keyText(key)
}

/** A key on one line. */
export function keyText(key: OverrideKey | readonly string[]): string {
  return typeof key === 'object' ? (key.length === 0 ? 'all requests' : key.join(' · ')) : String(key)
}
