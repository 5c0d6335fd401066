import { createHash } from 'node:crypto'
import type { CalendarUnit } from './rule.js'

/** The name of a level has at most 64 characters; what is added for a period needs some of them. */
const LONGEST = 54
const HASH_LENGTH = 12
const PLAIN = /^[\w-]+$/

/**
 * The name of a rule's level: its domain and the composite keys on the way to it, `mongo_cps.database_users`. It must stay the same
 * while other rules change, because it names the rule's states. Names that do not fit get a hash of the whole path in place of what
 * is lost.
 */
export function ruleName(domain: string, composites: readonly string[]): string {
  const parts = [domain, ...composites]
  const plain = parts.join('.')
  if (parts.every((part) => PLAIN.test(part)) && plain.length <= LONGEST) return plain
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, HASH_LENGTH)
  const readable = parts.map((part) => part.replace(/[^\w-]+/g, '-').replace(/^-+|-+$/g, '')).join('.')
  return `${readable.slice(0, LONGEST - HASH_LENGTH - 2)}..${hash}`
}

/** The level that keeps the weekly, monthly or yearly counts of a rule. */
export function calendarName(name: string, unit: CalendarUnit): string {
  return `${name}..${unit}`
}

/** The level of a domain for limits that come with the request. No rule has such a name. */
export function requestLimitName(domain: string): string {
  return `${ruleName(domain, [])}..request`
}
