/** The decider answers as a naive model that counts in maps. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type AskedDescriptor, rulesHere } from './rules-here.js'

const QUOTAS = { a: 3, b: 2, s: 1, q1: 1, q2: 2, z: 0 } as const
type Key = keyof typeof QUOTAS

const FLAGS: Readonly<Partial<Record<Key, string>>> = {
  s: 'shadow_mode: true, ',
  q1: 'quota_mode: true, count_over_limit: false, ',
  q2: 'quota_mode: true, count_over_limit: false, ',
}

const YAML = `domain: test\ndescriptors:\n${Object.entries(QUOTAS)
  .map(
    ([key, quota]) =>
      `  - { key: ${key}, ${FLAGS[key as Key] ?? ''}rate_limit: { unit: hour, requests_per_unit: ${quota} } }`,
  )
  .join('\n')}`

interface Asked {
  readonly key: Key
  readonly value: string
  readonly hits: number
  readonly refund: boolean
}

const ASKED: fc.Arbitrary<Asked> = fc.record({
  key: fc.constantFrom<Key>('a', 'b', 's', 'q1', 'q2', 'z'),
  value: fc.constantFrom('x', 'y'),
  hits: fc.integer({ min: 0, max: 3 }),
  refund: fc.boolean().map((each) => each && true),
})
/** One descriptor for each state: how hits of one state are shared out is no matter of the rules. */
const REQUEST = fc.uniqueArray(ASKED, { minLength: 1, maxLength: 5, selector: ({ key, value }) => `${key} ${value}` })

class Model {
  readonly #counts = new Map<string, number>()

  ask(request: readonly Asked[]): { overall: string; codes: readonly string[] } {
    const takes = request.filter(({ refund }) => !refund)
    const isOver = (asked: Asked) => {
      const quota = QUOTAS[asked.key]
      return !asked.refund && (quota === 0 || this.#count(asked) + asked.hits > quota)
    }
    const over = takes.filter(isOver)
    const quotas = takes.filter(({ key }) => key.startsWith('q'))
    const denied =
      over.some(({ key }) => key !== 's' && !key.startsWith('q')) ||
      (quotas.length > 0 && quotas.every((each) => over.includes(each)))
    if (!denied)
      for (const asked of request) {
        if (asked.refund) this.#add(asked, -asked.hits)
        else if (!over.includes(asked)) this.#add(asked, asked.hits)
      }
    const codes = request.map((asked) => {
      const isDenial = over.includes(asked)
      const left = isDenial ? 0 : QUOTAS[asked.key] - this.#count(asked)
      return `${isDenial && asked.key !== 's' ? 'OVER_LIMIT' : 'OK'} ${left}`
    })
    return { overall: denied ? 'OVER_LIMIT' : 'OK', codes }
  }

  #count({ key, value }: Asked): number {
    return this.#counts.get(`${key} ${value}`) ?? 0
  }

  #add(asked: Asked, hits: number): void {
    this.#counts.set(`${asked.key} ${asked.value}`, Math.max(0, this.#count(asked) + hits))
  }
}

test('any requests are answered as by the model', () => {
  fc.assert(
    fc.property(fc.array(REQUEST, { minLength: 1, maxLength: 12 }), (requests) => {
      const { ask } = rulesHere(YAML)
      const model = new Model()
      for (const request of requests) {
        const descriptors = request.map(({ key, value, hits, refund }): AskedDescriptor => {
          return { of: `${key}=${value}`, hits, refund }
        })
        const { overall, codes } = ask(...descriptors)
        // `OK no limit` is what remains of 0 without a limit; these all have one.
        expect({ overall, codes }).toEqual(model.ask(request))
      }
    }),
    { numRuns: 500 },
  )
})
