import { UsageError } from './command.js'

const REQUEST_EXAMPLE = `such as '{"method":"POST","path":"/v1/charges"}'`

/** Reads the attributes of a request from the JSON text of `--request`. */
export function readRequest(text: string): Record<string, never> {
  let request: unknown
  try {
    request = JSON.parse(text)
  } catch (error) {
    throw new UsageError(`--request must be a JSON object ${REQUEST_EXAMPLE}: ${(error as Error).message}`)
  }
  if (typeof request === 'object' && request !== null && !Array.isArray(request))
    return request as Record<string, never>
  throw new UsageError(`--request must be a JSON object ${REQUEST_EXAMPLE}, got ${text.slice(0, 60)}`)
}

/** Adds attributes that are written `merchant=acct_1`. Each attribute may be given once. */
export function withAttributes(request: object, words: readonly string[]): Record<string, unknown> {
  const attributes: Record<string, unknown> = { ...request }
  for (const word of words) {
    const at = word.indexOf('=')
    if (at < 1)
      throw new UsageError(`an attribute is written name=value, such as merchant=acct_1, got '${word.slice(0, 60)}'`)
    const name = word.slice(0, at)
    if (Object.hasOwn(attributes, name)) throw new UsageError(`the attribute ${name.slice(0, 60)} is given twice`)
    // Defined and not assigned, so that an attribute with the name __proto__ is an attribute as well.
    Object.defineProperty(attributes, name, { value: word.slice(at + 1), enumerable: true })
  }
  return attributes
}

/** Reads a cost: a whole number from 0. */
export function readCost(text = '1'): number {
  const cost = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(cost)) return cost
  throw new UsageError(`--cost must be a whole number from 0, got '${text.slice(0, 60)}'`)
}
