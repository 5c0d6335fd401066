import { checkOptions, isObject } from '../../checks/check-options.js'
import { checkUnits } from '../../checks/check-value.js'
import { InvalidTypeError, InvalidValueError, invalidType, invalidValue, shown } from '../../errors.js'
import { checkLocalOptions, checkOnFailure } from '../fallback.js'
import type { OnFailure } from '../store.js'

/** Options of a service store. */
export interface ServiceStoreOptions {
  /**
   * The longest that a decision waits for the service, in milliseconds, from 1. Default 100: longer than the 50 ms for which
   * the service waits for its Redis, so that the service can still answer when Redis does not.
   */
  readonly deadlineMs?: number
  /**
   * How a request is answered if the service does not answer. Default `'open'`. A limiter may have a rule of its own. If it
   * is given, the service also follows it while its Redis is away; otherwise it follows its own rule then.
   */
  readonly onFailure?: OnFailure
  /** Among how many processes `onFailure: 'local'` divides a limit: a whole number from 1 to 1,000,000. Default 1. */
  readonly instances?: number
  /**
   * The most keys, and the most timestamps of logs and concurrency limits, that `onFailure: 'local'` keeps in this process: a
   * whole number from 1 to 2^30. When it is full, new keys share buckets, as in a memory store. Default 1,000,000.
   */
  readonly maxLocalKeys?: number
  /** The most calls that one HTTP request carries: a whole number from 1 to 1,000. Default 250. */
  readonly maxBatch?: number
  /** The most HTTP requests at a time, each on a connection of its own: a whole number from 1. Default 4. */
  readonly maxConnections?: number
  /** The most calls that wait at a time; others are answered by `onFailure` at once. Default 10,000. */
  readonly maxPending?: number
  /** More header fields of every HTTP request, such as a token that a proxy in front of the service asks for. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The most calls of one HTTP request that the service accepts. */
const LARGEST_BATCH = 1_000

/** Checks the options, and fills in defaults. */
export function checkServiceStoreOptions(options: ServiceStoreOptions) {
  const given = checkOptions('serviceStore', options, [
    'deadlineMs',
    'onFailure',
    'instances',
    'maxLocalKeys',
    'maxBatch',
    'maxConnections',
    'maxPending',
    'headers',
  ])
  return {
    deadlineMs: checkUnits('deadlineMs', given.deadlineMs ?? 100, 3_600_000),
    onFailure: given.onFailure === undefined ? undefined : checkOnFailure(given.onFailure),
    ...checkLocalOptions(given),
    maxBatch: checkUnits('maxBatch', given.maxBatch ?? 250, LARGEST_BATCH),
    maxConnections: checkUnits('maxConnections', given.maxConnections ?? 4, 1_000),
    maxPending: checkUnits('maxPending', given.maxPending ?? 10_000, 1_000_000_000),
    headers: checkHeaders(given.headers),
  }
}

const WANTED_URL = "the address of a service, such as 'http://127.0.0.1:8080'"

/** Checks the address of a service. */
export function checkServiceUrl(value: unknown): URL {
  const text = value instanceof URL ? value.href : value
  if (typeof text !== 'string') throw invalidType('url', WANTED_URL, value)
  // The text may hold a password, so the errors do not show it.
  if (!URL.canParse(text)) throw new InvalidValueError(`url must be ${WANTED_URL}`, { option: 'url' })
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw invalidValue('url', WANTED_URL, url.protocol)
  if (url.username !== '' || url.password !== '')
    throw new InvalidValueError("url must have no password; use headers: { authorization: '…' }", { option: 'url' })
  if (url.search !== '' || url.hash !== '') throw invalidValue('url', `${WANTED_URL}, without ? or #`, url.search)
  return url
}

/** The fields that belong to the exchange itself. */
const OWN_FIELDS = ['content-type', 'content-length', 'transfer-encoding', 'connection', 'host']

function checkHeaders(value: unknown = {}): Readonly<Record<string, string>> {
  if (!isObject(value)) throw invalidType('headers', "an object such as { authorization: 'Bearer …' }", value)
  for (const [name, text] of Object.entries(value)) {
    // The value may be a secret, so the errors do not show it.
    const isField =
      /^[\w!#$%&'*+.^`|~-]+$/.test(name) && typeof text === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(text)
    if (!isField)
      throw new InvalidTypeError(`headers must have names and texts of HTTP fields; ${shown(name)} is none`, {
        option: 'headers',
      })
    if (OWN_FIELDS.includes(name.toLowerCase())) throw invalidValue('headers', `without ${OWN_FIELDS.join(', ')}`, name)
  }
  return Object.freeze({ ...value }) as Readonly<Record<string, string>>
}
