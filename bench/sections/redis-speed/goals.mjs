import { fixed } from '../../markdown.mjs'

/** All are held against the middle of the rounds, each of which compares what was measured next to each other. */
export function redisSpeedGoals({ cases }) {
  const one = cases['1 caller']
  const many = cases['256 callers']
  return [
    goal('at least 3x rate-limiter-flexible at 256 callers', many, 'rate-limiter-flexible', 'perSecond', (x) => x >= 3),
    goal('p99 no worse than its', many, 'rate-limiter-flexible', 'p99Us', (x) => x <= 1),
    goal(
      "within 1.15x of the article's script at one caller, in its own process",
      one,
      'article',
      'p50Us',
      (x) => x <= 1.15,
    ),
    goal("Redis CPU per decision at most 0.6x the article's script", many, 'article', 'redisUs', (x) => x <= 0.6),
  ]
}

function goal(text, { dropped, found }, contender, what, isReached) {
  const { median, least, greatest } = found[contender].ratio[what]
  const rounds = `rounds ${fixed(least, 2)}x to ${fixed(greatest, 2)}x${dropped > 0 ? `, ${dropped} dropped` : ''}`
  return { goal: `Redis: ${text}`, measured: `${fixed(median, 2)}x (${rounds})`, reached: isReached(median) }
}
