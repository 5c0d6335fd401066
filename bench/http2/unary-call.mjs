// The bytes of a unary call as Envoy would send it, and of its answer.
export const PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'

/** `overall_code: OK`, and a status with a limit, what is left of it and when it is whole again. */
export const ANSWER = Buffer.from('080112120801120608e80710011803c7072203083b', 'hex')

/** A domain, and a descriptor with one entry. */
const MESSAGE = Buffer.concat([
  Buffer.from([0x0a, 0x04]),
  Buffer.from('edge'),
  Buffer.from([0x12, 0x1a, 0x0a, 0x18, 0x0a, 0x07]),
  Buffer.from('api_key'),
  Buffer.from([0x12, 0x0d]),
  Buffer.from('customer-0042'),
])

const HEADERS = 0x1
const DATA = 0x0
const SETTINGS = 0x4
const WINDOW_UPDATE = 0x8
const END_HEADERS = 0x4
const END_STREAM = 0x1
const HEAD = 9

/** What a client sends before its first call: the preface, SETTINGS, and the largest window. */
export const FIRST_FRAMES = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frame(SETTINGS, 0, Buffer.alloc(0)),
  frame(WINDOW_UPDATE, 0, Buffer.from([0x7f, 0xff, 0, 0])),
])

/** The first call of a connection: the client asks the server to remember five fields. */
export function firstCall() {
  const remembered = [
    [0x41, text('ratelimit.internal:8081')],
    [0x40, text('te'), text('trailers')],
    [0x5f, text('application/grpc')],
    [0x7a, text('envoy/1.36')],
    [0x40, text('grpc-timeout'), text('20m')],
  ]
  return call(Buffer.concat([methodAndPath(), ...remembered.flat().map(bytesOf)]))
}

/** Every further call: the same fields by their numbers. The path is never remembered, as nghttp2 does it. */
export function nextCall() {
  return call(Buffer.concat([methodAndPath(), Buffer.from([0xc2, 0xc1, 0xc0, 0xbf, 0xbe])]))
}

/** Writes the number of a stream into both frames of a call. */
export function setStream(bytes, at, streamId) {
  const headers = (bytes[at + 1] << 8) | bytes[at + 2]
  bytes.writeUInt32BE(streamId, at + 5)
  bytes.writeUInt32BE(streamId, at + HEAD + headers + 5)
}

/** Writes the number of a stream into the three frames of an answer, whose head has two bytes. */
export function setAnswered(bytes, at, streamId) {
  for (const frameAt of [at, at + 11, at + 11 + HEAD + 5 + ANSWER.length]) bytes.writeUInt32BE(streamId, frameAt + 5)
}

function methodAndPath() {
  return Buffer.concat([Buffer.from([0x83, 0x86, 0x04]), text(PATH)])
}

function call(block) {
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(MESSAGE.length, 1)
  return Buffer.concat([frame(HEADERS, END_HEADERS, block), frame(DATA, END_STREAM, Buffer.concat([prefix, MESSAGE]))])
}

/** A frame of a stream that is set later. */
export function frame(type, flags, payload) {
  const head = Buffer.alloc(HEAD)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  return Buffer.concat([head, payload])
}

function text(string) {
  return Buffer.concat([Buffer.from([string.length]), Buffer.from(string)])
}

function bytesOf(part) {
  return typeof part === 'number' ? Buffer.from([part]) : part
}
