import { GRPC_STATUS, GrpcError } from '../grpc/grpc-error.js'
import type { GrpcMethod, GrpcMethods } from '../grpc/grpc-method.js'
import { grpcTimeoutMs } from '../grpc/grpc-timeout-ms.js'
import type { FieldSink } from './hpack/header-decoder.js'
import { FieldKind, type HeaderField } from './hpack/header-field.js'

/** What the header list of a request says. It does not change, so calls with equal header blocks share it. */
export interface CallHead {
  readonly path: string
  /** Undefined if the call is refused. */
  readonly method: GrpcMethod | undefined
  /** Infinity without a deadline. */
  readonly timeoutMs: number
  /** How the client says that it compresses messages. */
  readonly encoding: string | undefined
  /** -1 without a `content-length`. */
  readonly contentLength: number
  readonly refusal: Refusal | undefined
}

export type Refusal =
  /** The request breaks the rules of HTTP/2: its stream is reset. */
  | { readonly kind: 'malformed' }
  /** The request is no call of gRPC: it is answered as a request of HTTP, once it is complete. */
  | { readonly kind: 'http'; readonly status: number; readonly text: string }
  /** The call is answered with an error at once. */
  | { readonly kind: 'grpc'; readonly error: GrpcError }

const malformed: Refusal = { kind: 'malformed' }
/** With a parameter or without. Other formats of messages, such as `application/grpc+json`, are none that a method reads. */
const grpcContentType = /^application\/grpc(?:\+proto)?(?:\s*;.*)?$/i
const length = /^\d{1,15}$/

/** Reads one header list after another: `begin`, each `field`, `end`. */
export class CallHeadReader implements FieldSink {
  readonly #methods: GrpcMethods
  readonly #mostBytes: number
  #bytes = 0
  #isMalformed = false
  #hasRegular = false
  #method: string | undefined
  #path: string | undefined
  #scheme: string | undefined
  #authority: string | undefined
  #contentType: string | undefined
  #timeout: string | undefined
  #encoding: string | undefined
  #contentLength: string | undefined

  /** `mostBytes` bounds a header list: the size of its fields, and 32 for each. */
  constructor(methods: GrpcMethods, mostBytes: number) {
    this.#methods = methods
    this.#mostBytes = mostBytes
  }

  begin(): void {
    this.#bytes = 0
    this.#isMalformed = false
    this.#hasRegular = false
    this.#method = undefined
    this.#path = undefined
    this.#scheme = undefined
    this.#authority = undefined
    this.#contentType = undefined
    this.#timeout = undefined
    this.#encoding = undefined
    this.#contentLength = undefined
  }

  field(field: HeaderField): void {
    this.#bytes += field.bytes
    if (field.isMalformed) this.#isMalformed = true
    if (field.kind <= FieldKind.lastPseudo) this.#pseudo(field)
    else {
      this.#hasRegular = true
      this.#regular(field)
    }
  }

  end(): CallHead {
    const refusal = this.#refusal()
    const method = refusal === undefined ? this.#methods.get(this.#path as string) : undefined
    return {
      path: this.#path ?? '',
      method,
      timeoutMs: refusal === undefined ? grpcTimeoutMs(this.#timeout) : Infinity,
      encoding: this.#encoding,
      contentLength: this.#contentLength === undefined ? -1 : Number(this.#contentLength),
      refusal,
    }
  }

  /** Pseudo fields come before all others, and each at most once: RFC 9113, section 8.3. */
  #pseudo({ kind, value }: HeaderField): void {
    if (this.#hasRegular) this.#isMalformed = true
    if (kind === FieldKind.method) this.#method = this.#once(this.#method, value)
    else if (kind === FieldKind.path) this.#path = this.#once(this.#path, value)
    else if (kind === FieldKind.scheme) this.#scheme = this.#once(this.#scheme, value)
    else if (kind === FieldKind.authority) this.#authority = this.#once(this.#authority, value)
    else this.#isMalformed = true
  }

  #regular({ kind, value }: HeaderField): void {
    if (kind === FieldKind.contentType) this.#contentType = value
    else if (kind === FieldKind.grpcTimeout) this.#timeout = value
    else if (kind === FieldKind.grpcEncoding) this.#encoding = value
    else if (kind === FieldKind.contentLength) {
      if (!length.test(value) || (this.#contentLength ?? value) !== value) this.#isMalformed = true
      this.#contentLength = value
    } else if (kind === FieldKind.te ? value.toLowerCase() !== 'trailers' : kind === FieldKind.connectionSpecific)
      this.#isMalformed = true
  }

  #once(before: string | undefined, value: string): string {
    if (before !== undefined) this.#isMalformed = true
    return value
  }

  #refusal(): Refusal | undefined {
    if (this.#bytes > this.#mostBytes)
      return { kind: 'http', status: 431, text: `The fields of a request have at most ${this.#mostBytes} bytes.` }
    if (this.#isMalformed || this.#method === undefined) return malformed
    if (this.#method === 'CONNECT' ? this.#scheme !== undefined || this.#path !== undefined : !this.#hasTarget())
      return malformed
    if (this.#method !== 'POST') return { kind: 'http', status: 405, text: 'gRPC calls are POST requests.' }
    if (!grpcContentType.test(this.#contentType ?? ''))
      return { kind: 'http', status: 415, text: 'The content-type of a gRPC call is application/grpc.' }
    if (!this.#methods.has(this.#path as string)) return grpc(unknownMethod(this.#path as string))
    if (Number.isNaN(grpcTimeoutMs(this.#timeout))) return grpc(malformedTimeout())
    return undefined
  }

  #hasTarget(): boolean {
    return this.#scheme !== undefined && this.#path !== undefined && this.#path !== ''
  }
}

function grpc(error: GrpcError): Refusal {
  return { kind: 'grpc', error }
}

function malformedTimeout(): GrpcError {
  return new GrpcError(GRPC_STATUS.invalidArgument, 'grpc-timeout must be at most eight digits and a unit, such as 20m')
}

function unknownMethod(path: string): GrpcError {
  return new GrpcError(GRPC_STATUS.unimplemented, `there is no method ${path.slice(0, 200)}`)
}
