/** A limit as code and as a policy, for copying. */
import { type Limit, quotaOf } from 'sluice/limits'

/** The languages of the code. */
export const CODE_LANGUAGES = ['TypeScript', 'Policy'] as const

export type CodeLanguage = (typeof CODE_LANGUAGES)[number]

/** `Token bucket, 20, 5/s`: a limit in a line. */
export function limitWords(limit: Limit): string {
  const name = limit.algorithm.replace('-', ' ')
  const slices = 'slices' in limit ? ` in ${limit.slices} slices` : ''
  return `${name[0].toUpperCase()}${name.slice(1)}, ${quotaOf(limit).toLocaleString('en')}${paceOf(limit)}${slices}`
}

function paceOf(limit: Limit): string {
  if ('refill' in limit) return ` at ${limit.refill}`
  if ('drain' in limit) return ` at ${limit.drain}`
  return 'window' in limit ? ` in ${limit.window}` : ''
}

/** A program, or a policy file, that has this limit alone. */
export function limitCode(limit: Limit, cost: number, language: CodeLanguage): string {
  const { algorithm, ...numbers } = limit
  if (language === 'TypeScript') {
    const maker = algorithm.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
    const options = cost === 1 ? '' : `, { cost: ${cost} }`
    return `import { createLimiter, ${maker} } from 'sluice'

const limiter = createLimiter({
  limit: ${maker}({ ${written(numbers, (value) => `'${value}'`)} }),
})
const { allowed, retryAfterMs } = limiter.tryAcquire('user:42'${options})
`
  }
  return `version: 1
levels:
  - name: user
    key: [user]
    limit: { algorithm: ${algorithm}, ${written(numbers, (value) => value)} }
`
}

function written(numbers: object, textOf: (value: string) => string): string {
  const pairs = Object.entries(numbers).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? textOf(value) : value}`,
  )
  return pairs.join(', ')
}
