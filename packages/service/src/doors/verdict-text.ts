import type { Decision, LevelDecision, Verdict } from 'sluice'

/**
 * A verdict as JSON text. Written by hand because it is made for every decision and `JSON.stringify` takes twice as long;
 * tests check that it parses to the same verdict. A wait that never ends (`Infinity`) is `null`.
 */
export function verdictText(verdict: Verdict): string {
  const { allowed, deniedBy, levels, retryAfterMs, delayMs, degraded } = verdict
  let text = `{"allowed":${allowed},"retryAfterMs":${wait(retryAfterMs)},"delayMs":${delayMs},"deniedBy":[`
  for (let i = 0; i < deniedBy.length; i++) text += i === 0 ? nameText(deniedBy[i]) : `,${nameText(deniedBy[i])}`
  text += '],"levels":['
  for (let i = 0; i < levels.length; i++) text += i === 0 ? levelText(levels[i]) : `,${levelText(levels[i])}`
  return degraded === undefined ? `${text}]}` : `${text}],"degraded":"${degraded}"}`
}

function levelText({ name, decision, shadow }: LevelDecision): string {
  return `{"name":${nameText(name)},${membersText(decision)}${shadow === true ? ',"shadow":true}' : '}'}`
}

/** A decision as JSON text. */
export function decisionText(decision: Decision): string {
  return `{${membersText(decision)}}`
}

function membersText(decision: Decision): string {
  const { allowed, quota, remaining, retryAfterMs, nextUnitAfterMs, resetAfterMs, delayMs, degraded } = decision
  const text =
    `"allowed":${allowed},"quota":${quota},"remaining":${remaining},` +
    `"retryAfterMs":${wait(retryAfterMs)},"nextUnitAfterMs":${wait(nextUnitAfterMs)},` +
    `"resetAfterMs":${wait(resetAfterMs)},"delayMs":${delayMs}`
  return degraded === undefined ? text : `${text},"degraded":"${degraded}"`
}

/** Names of levels as JSON. A policy has few of them; a reload may bring others, so the table is bounded. */
const names = new Map<string, string>()
const MOST_NAMES = 10_000

function nameText(name: string): string {
  let text = names.get(name)
  if (text === undefined) {
    text = JSON.stringify(name)
    if (names.size < MOST_NAMES) names.set(name, text)
  }
  return text
}

function wait(ms: number): number | null {
  return ms === Infinity ? null : ms
}
