import type { Decision, LevelDecision, Verdict } from 'sluice'

/**
 * A verdict as JSON text, in ASCII: the server counts and writes it without looking at each character. Written by hand
 * because it is made for every decision and `JSON.stringify` takes three times as long; tests check that it parses to the
 * same verdict. JSON has no `Infinity`: a wait that never ends and a quota without a limit are `null`.
 */
export function verdictText(verdict: Verdict): string {
  const { allowed, deniedBy, levels, retryAfterMs, delayMs, degraded } = verdict
  // Most requests are allowed, and then most members are the same for all of them.
  let text =
    allowed && delayMs === 0 && retryAfterMs === 0 && deniedBy.length === 0
      ? '{"allowed":true,"retryAfterMs":0,"delayMs":0,"deniedBy":[],"levels":['
      : `{"allowed":${allowed},"retryAfterMs":${finite(retryAfterMs)},"delayMs":${delayMs},"deniedBy":${namesText(deniedBy)},"levels":[`
  for (let i = 0; i < levels.length; i++) text += i === 0 ? levelText(levels[i]) : `,${levelText(levels[i])}`
  return degraded === undefined ? `${text}]}` : `${text}],"degraded":"${degraded}"}`
}

function levelText({ name, decision, shadow }: LevelDecision): string {
  return `${startOf(name, decision.quota)}${membersText(decision)}${shadow === true ? ',"shadow":true}' : '}'}`
}

/** A decision as JSON text, in ASCII. */
export function decisionText(decision: Decision): string {
  return `{"quota":${finite(decision.quota)},${membersText(decision)}}`
}

/** All members of a decision but the quota. */
function membersText(decision: Decision): string {
  const { allowed, remaining, retryAfterMs, nextUnitAfterMs, resetAfterMs, delayMs, degraded } = decision
  const outcome =
    allowed && retryAfterMs === 0 && delayMs === 0
      ? ',"allowed":true,"retryAfterMs":0,"delayMs":0,"nextUnitAfterMs":'
      : `,"allowed":${allowed},"retryAfterMs":${finite(retryAfterMs)},"delayMs":${delayMs},"nextUnitAfterMs":`
  const text = `"remaining":${finite(remaining)}${outcome}${finite(nextUnitAfterMs)},"resetAfterMs":${finite(resetAfterMs)}`
  return degraded === undefined ? text : `${text},"degraded":"${degraded}"`
}

/** The start of a level's text. It is the same until the level's quota changes. */
interface LevelStart {
  readonly quota: number
  readonly text: string
}

/** By level. A policy has few levels; a reload may bring others, so the table is bounded. */
const starts = new Map<string, LevelStart>()
const MOST_LEVELS = 10_000

function startOf(name: string, quota: number): string {
  const known = starts.get(name)
  if (known !== undefined && known.quota === quota) return known.text
  const text = `{"name":${asciiText(name)},"quota":${finite(quota)},`
  if (known !== undefined || starts.size < MOST_LEVELS) starts.set(name, { quota, text })
  return text
}

function namesText(names: readonly string[]): string {
  return names.length === 0 ? '[]' : `[${names.map(asciiText).join(',')}]`
}

/** A text as JSON in ASCII: `"caf\u00e9"`. */
function asciiText(text: string): string {
  return JSON.stringify(text).replace(NOT_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const NOT_ASCII = /[^\x20-\x7e]/g

function finite(value: number): number | null {
  return value === Infinity ? null : value
}
