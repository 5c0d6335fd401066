import { fixed } from '../../markdown.mjs'

/** Each goal is about the median of the rounds; a round compares figures that were measured one after the other. */
export function redisSpeedGoals({ cases }) {
  const one = cases['1 caller']
  const many = cases['256 callers']
  return [
    goal('at least 3x rate-limiter-flexible at 256 callers', many, 'rate-limiter-flexible', 'perSecond', (x) => x >= 3),
    goal(
      'p99 latency no worse than that of rate-limiter-flexible',
      many,
      'rate-limiter-flexible',
      'p99Us',
      (x) => x <= 1,
    ),
    goal(
      "within 1.15x of the article's script at one caller, in its own process",
      one,
      'article',
      'p50Us',
      (x) => x <= 1.15,
    ),
    goal(
      "at least 1.0x the article's script at 16 callers",
      cases['16 callers'],
      'article',
      'perSecond',
      (x) => x >= 1,
    ),
    share('fixed window at least 0.75x the token bucket at 256 callers', many, 'sluice-fixed-window', 0.75),
    share('sliding window at least 0.65x the token bucket at 256 callers', many, 'sluice-sliding-window', 0.65),
    goal("Redis CPU per decision at most 0.6x the article's script", many, 'article', 'redisUs', (x) => x <= 0.6),
  ]
}

/** Decisions a second of another limit of sluice, as a share of its token bucket's. */
function share(text, { found }, contender, wanted) {
  const { median, least, greatest } = found[contender].ratio.perSecond
  const rounds = `rounds ${fixed(1 / greatest, 2)}x to ${fixed(1 / least, 2)}x`
  return { goal: `Redis: ${text}`, measured: `${fixed(1 / median, 2)}x (${rounds})`, reached: 1 / median >= wanted }
}

function goal(text, { dropped, found }, contender, what, isReached) {
  const { median, least, greatest } = found[contender].ratio[what]
  const rounds = `rounds ${fixed(least, 2)}x to ${fixed(greatest, 2)}x${dropped > 0 ? `, ${dropped} dropped` : ''}`
  return { goal: `Redis: ${text}`, measured: `${fixed(median, 2)}x (${rounds})`, reached: isReached(median) }
}
