import { type Address, clientOf, parseAddress } from '../../addresses/index.js'
import { invalidType } from '../../errors.js'
import { PathReadings, plainPath } from './path-readings.js'

/** What an attribute of a request may be. `null`, `undefined` and an empty text all mean that it is absent. */
export type AttributeValue = string | number | boolean | null | undefined

/** A path may be a list: what a request asked for, and what that was rewritten to. A level is met by any of them. */
export type PathValue = AttributeValue | readonly string[]

/** How an attribute's text is read, by what it is called. */
export type Kind = 'text' | 'method' | 'path' | 'address'

/** Attributes that mean the same in every policy. */
export function kindOf(attribute: string): Kind {
  if (attribute === 'path') return 'path'
  if (attribute === 'method') return 'method'
  return attribute === 'ip' ? 'address' : 'text'
}

/** The texts that an attribute may be taken for. `exact` has capitals, and `folded` has small letters for them. */
interface Readings {
  readonly exact: readonly string[]
  readonly folded: readonly string[]
  readonly isAnything: boolean
}

/** Routers answer HEAD by the handler of GET where there is no other. */
const HEAD: Readings = { exact: ['HEAD', 'GET'], folded: ['HEAD', 'GET'], isAnything: false }

const ROOT = new PathReadings(['/'])

/**
 * The attributes that a policy asks about, of one request at a time. They are known by numbers, so that each is looked up
 * and made plain once a request, however many levels ask.
 */
export class Facts {
  readonly names: string[] = []
  /** Of each attribute, or `undefined` if it is absent. Of one with readings, it says only that it is there. */
  readonly texts: (string | undefined)[] = []
  /** Of each attribute that can be taken for several texts: an odd path, or the method HEAD. */
  readonly readings: (Readings | undefined)[] = []
  /** Is there one? */
  isAmbiguous = false
  readonly #kinds: Kind[] = []
  readonly #onlyOwn: boolean[] = []
  /** `null` until somebody asks. */
  readonly #addresses: (Address | undefined | null)[] = []
  readonly ipv6Prefix: number
  // A method as it was written last, and in capitals: there are few, and making capitals takes long.
  #method = ''
  #capitals = ''
  #readings = 0

  constructor(ipv6Prefix: number) {
    this.ipv6Prefix = ipv6Prefix
  }

  /** The number of an attribute that somebody will ask about, in the sense of its name or in another. */
  numberOf(name: string, kind = kindOf(name)): number {
    const known = this.names.findIndex((each, i) => each === name && this.#kinds[i] === kind)
    if (known >= 0) return known
    this.#kinds.push(kind)
    // Every object has a `constructor`, which is nobody's attribute.
    this.#onlyOwn.push(name in Object.prototype)
    return this.names.push(name) - 1
  }

  /** Reads the attributes of the next request. A wrong one is an error. */
  read(request: Readonly<Record<string, unknown>>): void {
    const { names, texts } = this
    const reading = ++this.#readings
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
    if (reading !== this.#readings) {
      throw invalidType('request', 'an object whose getters do not ask the same policy about another', request)
    }
  }

  /** An attribute of a request as it is. */
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
    // So that no spelling of a path, and no HEAD for a GET, has a quota of its own.
    if (readings !== undefined) return readings instanceof PathReadings ? readings.key : readings.exact[1]
    return this.#kinds[attribute] === 'address' ? clientOf(text, this.ipv6Prefix) : text
  }

  #readTargets(attribute: number, value: object): string | undefined {
    if (this.#kinds[attribute] !== 'path' || !isTexts(value)) return textOf(this.names[attribute], value)
    const targets = value.filter((each) => each !== '')
    if (targets.length === 0) return undefined
    this.#setReadings(attribute, new PathReadings(targets))
    return targets[0]
  }

  #readPlain(attribute: number, kind: Kind, text: string): void {
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
        this.#capitals = text.toUpperCase()
      }
      this.texts[attribute] = this.#capitals
      if (this.#capitals === 'HEAD') this.#setReadings(attribute, HEAD)
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
