import type { InspectAnswer } from '../../../service/src/live/inspect-answer.js'
import { durationText, numberText } from '../parts/number-text.js'
import { timeText } from '../parts/time-text.js'

/** A verdict in words. */
export interface VerdictWords {
  readonly title: string
  readonly outcome: 'admitted' | 'denied'
  /** What the request would take, or why it is denied: one sentence each. */
  readonly sentences: readonly string[]
}

/**
 * What would be decided now; of a recent request, what was decided when it came, and then what would be decided now. `denyAll`
 * are the levels that would deny the request even if it cost nothing.
 */
export function verdictWords(answer: InspectAnswer, denyAll: ReadonlySet<string>): VerdictWords {
  const { decided } = answer
  const now = wordsOfNow(answer, denyAll)
  if (decided === undefined) return now
  return {
    title: `${outcomeThen(decided)} at ${timeText(decided.atMs)}`,
    outcome: decided.allowed ? 'admitted' : 'denied',
    sentences: [
      ...(decided.degraded ? ['It was decided without the store.'] : []),
      ...(answer.allowed ? [] : [`Now it would be denied by ${listText(answer.deniedBy)}.`]),
      ...now.sentences,
    ],
  }
}

function outcomeThen({ allowed, deniedBy }: NonNullable<InspectAnswer['decided']>): string {
  if (allowed) return 'Allowed'
  // Nothing but a failure of the store denies without a level.
  return deniedBy.length === 0 ? 'Failed, because the store did,' : `Denied by ${listText(deniedBy)}`
}

function wordsOfNow(answer: InspectAnswer, denyAll: ReadonlySet<string>): VerdictWords {
  const matching = answer.levels.filter(({ matches }) => matches)
  if (matching.length === 0)
    return {
      title: 'Allowed: no level matches',
      outcome: 'admitted',
      sentences: [`${passWords(answer)}, and take nothing. Below is why each level does not match.`],
    }
  const shadow = denialsOf(answer, denyAll, true).map((each) => `In shadow, so it does not count: ${each}`)
  if (answer.allowed)
    return {
      title: 'Allowed',
      outcome: 'admitted',
      sentences: [takenWords(matching, passWords(answer)), ...delayWords(matching), ...shadow],
    }
  return {
    title: `Denied by ${listText(answer.deniedBy)}`,
    outcome: 'denied',
    sentences: [...denialsOf(answer, denyAll, false), ...shadow],
  }
}

const MOST_NAMES = 8

/** `a`, `a and b`, `a, b and c`; of many names the first, and how many others there are. */
function listText(names: readonly string[]): string {
  const more = names.length - MOST_NAMES
  const shown = more > 1 ? [...names.slice(0, MOST_NAMES), `${numberText(more)} more`] : names
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown[shown.length - 1]}`
}

function passWords({ decided }: InspectAnswer): string {
  return decided === undefined ? 'A request like this would pass now' : 'Now it would pass'
}

function takenWords(matching: InspectAnswer['levels'], wouldPass: string): string {
  // Without its store a level that is open counts nothing.
  const isCounted = ({ limits = [] }: (typeof matching)[number]) =>
    limits.some(({ limit, decision }) => limit.algorithm !== 'unlimited' && decision.degraded !== 'open')
  const taking = matching.filter((each) => each.cost !== 0 && each.shadow !== true && isCounted(each))
  if (taking.length === 0) return `${wouldPass}, and take nothing.`
  const costs = new Set(taking.map(({ cost = 1 }) => cost))
  const [cost] = costs
  const names = listText(taking.map(({ level }) => level))
  const what =
    costs.size === 1 ? `${numberText(cost)} from ${taking.length === 1 ? '' : 'each of '}${names}` : `from ${names}`
  return `${wouldPass}, and take ${what}.`
}

function delayWords(matching: InspectAnswer['levels']): string[] {
  const delays = matching.flatMap(({ limits = [] }) => limits.map(({ decision }) => decision.delayMs ?? 0))
  const longest = Math.max(0, ...delays)
  return longest === 0 ? [] : [`It would wait ${durationText(longest)} for its turn.`]
}

function denialsOf({ levels }: InspectAnswer, denyAll: ReadonlySet<string>, inShadow: boolean): string[] {
  const sentences = levels
    .filter(({ shadow = false }) => shadow === inShadow)
    .flatMap(({ level, cost = 0, limits = [] }) =>
      limits
        .filter(({ decision }) => !decision.allowed)
        .map(({ decision }) => `${level} ${reasonWords(decision, cost, denyAll.has(level))}.`),
    )
  // Several limits of a level may deny for the same reason.
  const different = [...new Set(sentences)]
  const more = different.length - MOST_NAMES
  return more > 1 ? [...different.slice(0, MOST_NAMES), `And ${numberText(more)} more.`] : different
}

/** What a denial says of itself. `Infinity` is `null` in JSON. */
interface Reasoned {
  readonly quota: number | null
  readonly remaining: number | null
  readonly degraded?: 'open' | 'closed' | 'local' | undefined
}

function reasonWords({ quota, remaining, degraded }: Reasoned, cost: number, deniesAll: boolean): string {
  if (degraded === 'closed') return 'denies everything while the store does not answer'
  if (deniesAll) return 'denies this key everything: it is blocked or in debt'
  if (quota === 0) return 'has a quota of 0 and lets nothing pass'
  if (quota !== null && cost > quota)
    return `would have to give ${numberText(cost)}, and ${numberText(quota)} is all that it ever has`
  const left =
    remaining === 0
      ? 'nothing is left'
      : `${numberText(remaining ?? Infinity)} of ${numberText(quota ?? Infinity)} are left`
  return `would have to give ${numberText(cost)}, and ${left}`
}
