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
  readonly #segments: (readonly string[] | undefined)[] = []
  /** `null` until somebody asks. */
  readonly #addresses: (Address | undefined | null)[] = []
  readonly #ipv6Prefix: number
  // A method as it was written last, and in capitals: there are few, and making capitals takes long.
  #method = ''
  #capitals = ''

  constructor(ipv6Prefix: number) {
    this.#ipv6Prefix = ipv6Prefix
  }

  /** The number of an attribute that somebody will ask about. */
  numberOf(name: string): number {
    const known = this.names.indexOf(name)
    if (known >= 0) return known
    this.#kinds.push(kindOf(name))
    // Every object has a `constructor`, which is nobody's attribute.
    this.#onlyOwn.push(name in Object.prototype)
    return this.names.push(name) - 1
  }

  /** An attribute of any name is read as what it is asked about. */
  readAs(attribute: number, kind: Kind): void {
    this.#kinds[attribute] = kind
  }

  /** Reads the attributes of the next request. A wrong one is an error. */
  read(request: Readonly<Record<string, unknown>>): void {
    const { names, texts } = this
    for (let i = 0; i < names.length; i++) {
      const name = names[i]
      const value = this.#onlyOwn[i] && !Object.hasOwn(request, name) ? undefined : request[name]
      const text = typeof value === 'string' ? value : textOf(name, value)
      texts[i] = text
      if (text === '') texts[i] = undefined
      else if (text !== undefined && this.#kinds[i] !== 'text') this.#readPlain(i, this.#kinds[i], text)
    }
  }

  segments(attribute: number): readonly string[] {
    this.#segments[attribute] ??= segmentsOf(this.texts[attribute] ?? '')
    return this.#segments[attribute]
  }

  address(attribute: number): Address | undefined {
    if (this.#addresses[attribute] === null) this.#addresses[attribute] = parseAddress(this.texts[attribute] ?? '')
    return this.#addresses[attribute] as Address | undefined
  }

  /** An attribute's text as a part of a key. */
  keyText(attribute: number): string | undefined {
    const text = this.texts[attribute]
    return text !== undefined && this.#kinds[attribute] === 'address' ? clientOf(text, this.#ipv6Prefix) : text
  }

  #readPlain(attribute: number, kind: Kind, text: string): void {
    if (kind === 'path') {
      this.texts[attribute] = plainPath(text)
      this.#segments[attribute] = undefined
    } else if (kind === 'address') this.#addresses[attribute] = null
    else {
      if (text !== this.#method) {
        this.#method = text
        this.#capitals = text.toUpperCase()
      }
      this.texts[attribute] = this.#capitals
    }
  }
}

function textOf(name: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return String(value)
  throw invalidType(`the attribute ${name}`, 'text, a finite number, true, false or null', value)
}

function segmentsOf(path: string): readonly string[] {
  return path === '' || path === '/' ? [] : (path.startsWith('/') ? path.slice(1) : path).split('/')
}
