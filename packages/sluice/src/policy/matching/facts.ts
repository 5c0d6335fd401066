import { type Address, clientOf, parseAddress } from '../../addresses/index.js'
import { invalidType } from '../../errors.js'
import { plainPath } from './plain-path.js'

/** What an attribute of a request may be. `null`, `undefined` and an empty text all mean that it is absent. */
export type AttributeValue = string | number | boolean | null | undefined

/** How an attribute's text is read, by what it is called. */
export type Kind = 'text' | 'method' | 'path' | 'address'

/** Attributes that mean the same in every policy. */
export function kindOf(attribute: string): Kind {
  if (attribute === 'path') return 'path'
  if (attribute === 'method') return 'method'
  return attribute === 'ip' ? 'address' : 'text'
}

/**
 * The attributes that a policy asks about, of one request at a time. They are known by numbers, so that each is looked up
 * and made plain once a request, however many levels ask.
 */
export class Facts {
  readonly names: string[] = []
  /** Of each attribute, or `undefined` if it is absent. */
  readonly texts: (string | undefined)[] = []
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
    for (let i = 0; i < names.length; i++) {
      const name = names[i]
      const value = this.#onlyOwn[i] ? ownValue(request, name) : request[name]
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
    return text !== undefined && this.#kinds[attribute] === 'address' ? clientOf(text, this.ipv6Prefix) : text
  }

  #readPlain(attribute: number, kind: Kind, text: string): void {
    if (kind === 'path') this.texts[attribute] = plainPath(text)
    else if (kind === 'address') this.#addresses[attribute] = null
    else {
      if (text !== this.#method) {
        this.#method = text
        this.#capitals = text.toUpperCase()
      }
      this.texts[attribute] = this.#capitals
    }
  }
}

function ownValue(request: object, name: string): unknown {
  return Object.hasOwn(request, name) ? request[name as keyof object] : undefined
}

function textOf(name: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return String(value)
  throw invalidType(`the attribute ${name}`, 'text, a finite number, true, false or null', value)
}
