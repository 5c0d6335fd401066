import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { Exchange } from './exchange.js'

/** What a browser may do with a file. */
interface StaticFileOptions {
  /** The media type. */
  readonly type: string
  /** How long a browser keeps it: `no-cache` asks every time whether it has changed. */
  readonly cacheControl: string
  /** Further header fields. */
  readonly fields?: Readonly<Record<string, string>>
}

/** One form of the contents, and the tag that tells it from every other form. */
interface Form {
  readonly body: Buffer
  readonly tag: string
}

/**
 * A file that is answered from memory: compressed if the browser takes that, and only as a status if the browser has it
 * already. It is compressed once, when the service starts.
 */
export class StaticFile {
  readonly #plain: Form
  readonly #gzip: Form
  readonly #fields: Readonly<Record<string, string>>

  constructor(contents: Buffer, { type, cacheControl, fields }: StaticFileOptions) {
    const hash = createHash('sha256').update(contents).digest('base64url').slice(0, 22)
    this.#plain = { body: contents, tag: `"${hash}"` }
    this.#gzip = { body: gzipSync(contents, { level: 9 }), tag: `"${hash}-gzip"` }
    this.#fields = {
      'Content-Type': type,
      'Cache-Control': cacheControl,
      Vary: 'Accept-Encoding',
      'X-Content-Type-Options': 'nosniff',
      ...fields,
    }
  }

  /** Answers GET and HEAD. */
  answer({ request: { headers }, response }: Exchange): void {
    const isGzip = takesGzip(headers['accept-encoding'])
    const { body, tag } = isGzip ? this.#gzip : this.#plain
    const fields = { ...this.#fields, ETag: tag, ...(isGzip && { 'Content-Encoding': 'gzip' }) }
    if (isAmong(tag, headers['if-none-match'])) {
      response.writeHead(304, fields)
      response.end()
    } else {
      response.writeHead(200, { ...fields, 'Content-Length': body.length })
      response.end(body)
    }
  }
}

/** Reads `gzip, deflate;q=0.5, *;q=0`. A weight of 0 refuses. */
function takesGzip(field: string | string[] | undefined = ''): boolean {
  const weights = new Map<string, number>()
  for (const part of String(field).toLowerCase().split(',')) {
    const [name, ...parameters] = part.split(';').map((each) => each.trim())
    const weight = parameters.find((each) => each.startsWith('q='))
    weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)))
  }
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0
}

/** Does the browser have this form? A proxy may have made the tag weak: `W/"…"`. */
function isAmong(tag: string, field: string | undefined): boolean {
  if (field === undefined) return false
  return field.split(',').some((each) => ['*', tag].includes(each.trim().replace(/^W\//, '')))
}
