/** The error codes of RFC 9113, section 7, that this server sends or reads. */
export const ErrorCode = {
  noError: 0x0,
  protocolError: 0x1,
  internalError: 0x2,
  flowControlError: 0x3,
  streamClosed: 0x5,
  frameSizeError: 0x6,
  refusedStream: 0x7,
  cancel: 0x8,
  compressionError: 0x9,
  enhanceYourCalm: 0xb,
} as const

/**
 * A fault of the peer that ends the connection: its code and text go into a GOAWAY frame. Faults that end only a stream are
 * answered where they are found, and are never thrown.
 */
export class Http2Error extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.name = 'Http2Error'
    this.code = code
  }
}
