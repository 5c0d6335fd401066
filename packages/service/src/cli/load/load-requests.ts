/** What each request of a load asks. */
export interface LoadQuestion {
  /** The attributes. `{n}` in a text stands for a number below `keys`. */
  readonly attributes: object
  readonly cost: number
  readonly keys: number
  /** How many decisions a request asks for. More than 1: the request goes to `/v1/check/batch`. */
  readonly batch: number
}

/**
 * The texts of HTTP requests. All have the same length, because numbers are padded with zeros: `{n}` of 1,000 keys is `000`
 * to `999`. Keys take turns, so each gets the same load.
 */
export class LoadRequests {
  readonly #head: string
  /** The JSON of one decision, split at each `{n}`. */
  readonly #parts: readonly string[]
  readonly #keys: number
  readonly #digits: number
  readonly #batch: number
  #next = 0

  constructor(url: string, { attributes, cost, keys, batch }: LoadQuestion) {
    const { host, pathname } = new URL(url)
    this.#keys = keys
    this.#digits = `${keys - 1}`.length
    this.#batch = batch
    this.#parts = inAscii(JSON.stringify({ attributes, ...(cost !== 1 && { cost }) })).split('{n}')
    const path = `${pathname === '/' ? '' : pathname}/v1/check${batch > 1 ? '/batch' : ''}`
    this.#head = `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: `
    this.#head += `${this.#body().length}\r\n\r\n`
    this.#next = 0
  }

  /** The next request. */
  next(): string {
    return this.#head + this.#body()
  }

  #body(): string {
    if (this.#batch === 1) return this.#check()
    let text = '{"checks":['
    for (let i = 0; i < this.#batch; i++) text += i === 0 ? this.#check() : `,${this.#check()}`
    return `${text}]}`
  }

  #check(): string {
    const parts = this.#parts
    if (parts.length === 1) return parts[0]
    const number = `${this.#next}`.padStart(this.#digits, '0')
    this.#next = this.#next + 1 < this.#keys ? this.#next + 1 : 0
    let text = parts[0]
    for (let i = 1; i < parts.length; i++) text += number + parts[i]
    return text
  }
}

/** The same JSON with one byte for each character. */
function inAscii(json: string): string {
  return json.replace(/[^\u0020-\u007e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
