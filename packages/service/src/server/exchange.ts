import type { ServerResponse } from 'node:http'
import type { BodyReader, BodyRequest } from './body-request.js'
import { badRequest, Problem, problemOf, shown } from './problem.js'

/** A JSON object that a client sent. */
export type JsonObject = Readonly<Record<string, unknown>>

/** A body of up to so many bytes is read, also if it is too large. */
const MOST_DROPPED_BYTES = 16 * 1024 * 1024

/** One request and its answer. A handler answers exactly once, or throws. */
export class Exchange {
  readonly request: BodyRequest
  readonly response: ServerResponse
  /** The text behind `?`, or an empty text. */
  readonly query: string
  readonly #onFault: (error: unknown) => void

  constructor(request: BodyRequest, response: ServerResponse, query: string, onFault: (error: unknown) => void) {
    this.request = request
    this.response = response
    this.query = query
    this.#onFault = onFault
  }

  /**
   * Reads the body as a JSON object and calls `next` with it. Takes a callback, because a promise for each small body costs
   * more than reading it. An error of `next` is answered. A body that is too large is read to its end and dropped, so that
   * the client gets the answer; one that is far too large is not. Must be called before the handler first waits.
   */
  readObject(maxBytes: number, next: (body: JsonObject) => void | Promise<void>): void {
    if (this.#isFarTooLarge) this.fail(tooLarge(maxBytes))
    else this.request.readBody(new ObjectReader(this, maxBytes, next))
  }

  /** Runs a part of a handler and answers its error. */
  run(part: () => void | Promise<void>): void {
    try {
      const later = part()
      if (later !== undefined) later.catch((error: unknown) => this.fail(error))
    } catch (error) {
      this.fail(error)
    }
  }

  /** Answers with JSON. */
  json(text: string, status = 200): void {
    this.text(text, 'application/json', status)
  }

  /** Answers with JSON that has only ASCII characters: its length needs no counting. */
  asciiJson(text: string): void {
    this.response.writeHead(200, ['Content-Type', 'application/json', 'Content-Length', `${text.length}`])
    this.response.end(text, 'latin1')
  }

  /** Answers with a text in one write. */
  text(text: string, type: string, status = 200): void {
    this.response.writeHead(status, ['Content-Type', type, 'Content-Length', `${Buffer.byteLength(text)}`])
    this.response.end(text)
  }

  /** Answers with fields only. */
  empty(fields: Readonly<Record<string, string>>, status = 204): void {
    this.response.writeHead(status, fields)
    this.response.end()
  }

  /** Answers with an error. */
  fail(error: unknown): void {
    const { request, response } = this
    const problem = problemOf(error)
    if (problem.status === 500) this.#onFault(error)
    if (response.headersSent) return void response.destroy()
    response.writeHead(problem.status, {
      'Content-Type': 'application/problem+json',
      'Content-Length': Buffer.byteLength(problem.body),
      'Cache-Control': 'no-store',
      // The rest of the body is not read.
      ...((problem.status === 413 || this.#isFarTooLarge) && !request.complete && { Connection: 'close' }),
      ...problem.fields,
    })
    response.end(problem.body)
  }

  get #isFarTooLarge(): boolean {
    const length = this.request.headers['content-length']
    return length !== undefined && Number(length) > MOST_DROPPED_BYTES
  }
}

/** Collects a body and reads it as a JSON object. */
class ObjectReader implements BodyReader {
  readonly #exchange: Exchange
  readonly #maxBytes: number
  readonly #next: (body: JsonObject) => void | Promise<void>
  /** The body so far. Most bodies come in one part. */
  #body: Buffer | undefined
  #more: Buffer[] | undefined
  #bytes = 0

  constructor(exchange: Exchange, maxBytes: number, next: (body: JsonObject) => void | Promise<void>) {
    this.#exchange = exchange
    this.#maxBytes = maxBytes
    this.#next = next
  }

  takePart(part: Buffer): void {
    this.#bytes += part.length
    if (this.#bytes > this.#maxBytes) this.#drop()
    else if (this.#body === undefined) this.#body = part
    else {
      this.#more ??= [this.#body]
      this.#more.push(part)
    }
  }

  takeEnd(): void {
    const exchange = this.#exchange
    if (this.#bytes > MOST_DROPPED_BYTES) return
    if (this.#bytes > this.#maxBytes) exchange.fail(tooLarge(this.#maxBytes))
    else exchange.run(() => this.#next(parseObject(this.#text())))
  }

  #drop(): void {
    this.#body = undefined
    this.#more = undefined
    if (this.#bytes > MOST_DROPPED_BYTES && !this.#exchange.response.headersSent)
      this.#exchange.fail(tooLarge(this.#maxBytes))
  }

  #text(): string {
    if (this.#more !== undefined) return Buffer.concat(this.#more).toString()
    return this.#body === undefined ? '' : this.#body.toString()
  }
}

function parseObject(text: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw badRequest(`the body must be JSON: ${text === '' ? 'it is empty' : (error as Error).message}`)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  throw badRequest(`the body must be a JSON object, got ${shown(value)}`)
}

function tooLarge(maxBytes: number): Problem {
  return new Problem(413, 'The body is too large', `the body must have at most ${maxBytes.toLocaleString('en')} bytes`)
}
