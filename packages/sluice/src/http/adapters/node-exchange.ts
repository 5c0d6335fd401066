import type { AnyPassage } from '../joint-passage.js'
import { mergeFields } from '../merge-fields.js'

/** A request of Node.js and its response. */
export interface NodeExchange {
  readonly request: Pick<NodeRequest, 'socket'>
  readonly response: NodeResponse
  /** The response as handlers of the framework know it, if that is another object. */
  readonly reply?: object
}

/** The part of a request of Node.js that is used here, the same for HTTP/1 and HTTP/2. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  readonly socket: {
    readonly remoteAddress?: string | undefined
    readonly destroyed?: boolean
    once?(event: 'close', listener: () => void): unknown
  }
}

/** The part of a response of Node.js that is used here, the same for HTTP/1 and HTTP/2. */
export interface NodeResponse {
  statusCode: number
  readonly headersSent: boolean
  readonly writableFinished: boolean
  readonly destroyed?: boolean
  readonly closed?: boolean
  readonly req?: { readonly method?: string | undefined }
  /** HTTP/2 only. */
  readonly stream?: { readonly destroyed: boolean } | undefined
  getHeader(name: string): FieldValue
  setHeader(name: string, value: string): unknown
  appendHeader(name: string, value: string): unknown
  // biome-ignore lint/suspicious/noExplicitAny: overloaded, and only wrapped
  write: (...given: any[]) => any
  // biome-ignore lint/suspicious/noExplicitAny: overloaded, and only wrapped
  end: (...given: any[]) => any
  once(event: 'close', listener: () => void): unknown
  off(event: 'close', listener: () => void): unknown
}

/** A header field as Node.js holds it: one line, several, or none. */
export type FieldValue = number | string | string[] | undefined

/** A field as one text. */
export function fieldText(value: FieldValue): string | undefined {
  return typeof value === 'object' ? value.join(', ') : value?.toString()
}

/** The address of a connection. A closed connection is `''`, a Unix socket `undefined`: only the second may be trusted. */
export function remoteAddressOf(socket: NodeRequest['socket']): string | undefined {
  const { remoteAddress } = socket
  return remoteAddress === undefined && socket.destroyed === true ? '' : remoteAddress
}

/** A target that may have been rewritten: as routers see it now and, if it differs, as the client wrote it. */
export function rewrittenUrl(url: string, originalUrl: string): string | readonly string[] {
  return url === originalUrl ? url : [url, originalUrl]
}

/**
 * Sets the fields of a passage beside those that another limiter has set. A plain passage only appends: it does not read the
 * response, because Express makes every property of a response slow to read. A response that is sent already stays as it is.
 */
export function setFields(response: NodeResponse, passage: AnyPassage): void {
  try {
    if (passage.isPlain) {
      response.appendHeader('RateLimit-Policy', passage.policyField)
      response.appendHeader('RateLimit', passage.quotaField)
      return
    }
    const merged = mergeFields(passage.headers, (name) => fieldText(response.getHeader(name)))
    for (const name in merged) response.setHeader(name, merged[name])
  } catch (error) {
    if (!response.headersSent) throw error
  }
}

/**
 * Calls `run`, which may throw, return a value or return a promise, and then either `done` with the value or `fail` with the
 * error. Errors of `done` are not caught.
 */
export function attempt<T>(run: () => T | Promise<T>, fail: (error: Error) => void, done?: (value: T) => void): void {
  let result: T | Promise<T>
  try {
    result = run()
  } catch (error) {
    fail(errorOf(error))
    return
  }
  if (result instanceof Promise) result.then(done, (error) => fail(errorOf(error)))
  else done?.(result)
}

/** An error for the framework, whatever was thrown: `next(undefined)` would let the request go on. */
function errorOf(thrown: unknown): Error {
  return thrown instanceof Error
    ? thrown
    : new Error(`a function among the options of rateLimit threw ${String(thrown)}`)
}
