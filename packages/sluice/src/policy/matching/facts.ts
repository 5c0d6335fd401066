import { type Address, clientKeyOf, parseAddress } from '../../addresses/index.js'
import { invalidType } from '../../errors.js'
import { PathReadings, plainPath } from './path-readings.js'

/** The value of a request's attribute. `null`, `undefined` and an empty text all mean that the attribute is absent. */
export type AttributeValue = string | number | boolean | null | undefined

/** A path may be a list: the path of the request, and the path it was rewritten to. A level matches if any of them does. */
export type PathValue = AttributeValue | readonly string[]

/** How an attribute's text is read. */
export type AttributeKind = 'text' | 'method' | 'path' | 'address'

/** The kind of an attribute by its name: `path`, `method` and `ip` mean the same in every policy. */
export function kindOf(attribute: string): AttributeKind {
  if (attribute === 'path') return 'path'
  if (attribute === 'method') return 'method'
  return attribute === 'ip' ? 'address' : 'text'
}

/** The texts that different routers may read an attribute as. */
interface Readings {
  readonly exact: readonly string[]
  /** `exact` as look-ups spell it: paths in lower case, methods in upper case. */
  readonly folded: readonly string[]
  /** May a router read it as any text? */
  readonly isAnything: boolean
}

/** Routers answer HEAD with the handler of GET if there is no other. */
const HEAD: Readings = { exact: ['HEAD', 'GET'], folded: ['HEAD', 'GET'], isAnything: false }

const ROOT = new PathReadings(['/'])

/**
 * The attributes that a policy asks about, of one request at a time. Each attribute has a number, so that it is looked up
 * and normalised once for each request, however many levels ask about it.
 *
 * One `Facts` serves all requests of a policy: `read` overwrites the previous request, which saves allocations. Nothing
 * may use it across an `await`. `Matcher` keeps it private and reads, matches and forgets within one synchronous call.
 * All attributes must have their numbers (`numberOf`) before the first `read`.
 */
export class Facts {
  readonly names: string[] = []
  /** The text of each attribute; `undefined` if absent. If the attribute has `readings`, compare those instead. */
  readonly texts: (string | undefined)[] = []
  /** Set for an attribute that can be read as several texts: an unusual path, or the method HEAD. */
  readonly readings: (Readings | undefined)[] = []
  /** Does any attribute of this request have `readings`? */
  isAmbiguous = false
  readonly #kinds: AttributeKind[] = []
  readonly #onlyOwn: boolean[] = []
  /** `null` until `address` parses it. */
  readonly #addresses: (Address | undefined | null)[] = []
  readonly ipv6Prefix: number
  // The last method and its upper case: there are few methods, and toUpperCase is slow.
  #method = ''
  #upperCase = ''
  /** Counts calls of `read`, to notice one inside another. */
  #reads = 0

  constructor(ipv6Prefix: number) {
    this.ipv6Prefix = ipv6Prefix
  }

  /** The number of an attribute that is read as `kind`. One name may have several kinds, each with its own number. */
  numberOf(name: string, kind = kindOf(name)): number {
    const known = this.names.findIndex((each, i) => each === name && this.#kinds[i] === kind)
    if (known >= 0) return known
    this.#kinds.push(kind)
    // Every object inherits a `constructor`, which is not an attribute.
    this.#onlyOwn.push(name in Object.prototype)
    return this.names.push(name) - 1
  }

  /** Reads the attributes of the next request. Throws if one of them has a wrong type. */
  read(request: Readonly<Record<string, unknown>>): void {
    const { names, texts } = this
    const read = ++this.#reads
    this.isAmbiguous = false
    for (let i = 0; i < names.length; i++) {
      const name = names[i]
      const value = this.#onlyOwn[i] ? ownValue(request, name) : request[name]
      this.readings[i] = undefined
      if (typeof value === 'object' && value !== null) {
        texts[i] = this.#readTargets(i, value)
        continue
      }
      const text = typeof value === 'string' ? value : textOf(name, value)
      texts[i] = text
      if (text === '') texts[i] = undefined
      else if (text !== undefined && this.#kinds[i] !== 'text') this.#readPlain(i, this.#kinds[i], text)
    }
    if (read !== this.#reads) {
      throw invalidType('request', 'an object whose getters do not call the same policy', request)
    }
  }

  /** The value of a request's attribute, unread. */
  valueOf(request: object, name: string): unknown {
    return name in Object.prototype ? ownValue(request, name) : request[name as keyof object]
  }

  address(attribute: number): Address | undefined {
    if (this.#addresses[attribute] === null) this.#addresses[attribute] = parseAddress(this.texts[attribute] ?? '')
    return this.#addresses[attribute] as Address | undefined
  }

  /** An attribute's text as a part of a key. */
  keyText(attribute: number): string | undefined {
    const text = this.texts[attribute]
    if (text === undefined) return undefined
    const readings = this.readings[attribute]
    // One key for all spellings of a path, and for GET and HEAD: none of them gets a quota of its own.
    if (readings !== undefined) return readings instanceof PathReadings ? readings.key : readings.exact[1]
    return this.#kinds[attribute] === 'address' ? clientKeyOf(text, this.ipv6Prefix) : text
  }

  #readTargets(attribute: number, value: object): string | undefined {
    if (this.#kinds[attribute] !== 'path' || !isTexts(value)) return textOf(this.names[attribute], value)
    const targets = value.filter((each) => each !== '')
    if (targets.length === 0) return undefined
    this.#setReadings(attribute, new PathReadings(targets))
    return targets[0]
  }

  #readPlain(attribute: number, kind: AttributeKind, text: string): void {
    if (kind === 'path') {
      const plain = plainPath(text)
      if (plain === undefined) this.#setReadings(attribute, new PathReadings([text]))
      else {
        this.texts[attribute] = plain
        if (plain === '/') this.#setReadings(attribute, ROOT)
      }
    } else if (kind === 'address') this.#addresses[attribute] = null
    else {
      if (text !== this.#method) {
        this.#method = text
        this.#upperCase = text.toUpperCase()
      }
      this.texts[attribute] = this.#upperCase
      if (this.#upperCase === 'HEAD') this.#setReadings(attribute, HEAD)
    }
  }

  #setReadings(attribute: number, readings: Readings): void {
    this.readings[attribute] = readings
    this.isAmbiguous = true
  }
}

function ownValue(request: object, name: string): unknown {
  return Object.hasOwn(request, name) ? request[name as keyof object] : undefined
}

function isTexts(value: object): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function textOf(name: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return String(value)
  throw invalidType(`the attribute ${name}`, 'text, a finite number, true, false or null', value)
}
