/** A limit as code and as a policy, for copying. */
import type { Limit } from 'sluice/limits'

/** The languages of the code. */
export const CODE_LANGUAGES = ['TypeScript', 'Policy'] as const

export type CodeLanguage = (typeof CODE_LANGUAGES)[number]

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
