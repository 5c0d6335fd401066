import { MOST_MESSAGE_BYTES, MOST_PARTIAL_BYTES } from '../grpc/message-reader.js'

/**
 * What a client may ask of the server at most. A client that exceeds a bound loses a call or its connection; other
 * connections do not notice. Together the bounds limit the memory of a connection.
 */
export interface Bounds {
  /** Connections at a time. Further ones are closed at once. */
  readonly connections: number
  /** Calls at a time on a connection. A call that its client cancelled counts until its answer is known. */
  readonly streams: number
  /** The bytes of a message. */
  readonly messageBytes: number
  /** The bytes of all messages of a connection of which a part has come, … */
  readonly partialBytes: number
  /** … and of all connections together. */
  readonly allPartialBytes: number
  /** The bytes of a header list as HTTP counts them (32 more for each field), and of a header block. */
  readonly headerBytes: number
  /** The table that a client may use to shorten its header blocks. */
  readonly headerTableBytes: number
  /** The bytes that wait for a client to read. Above it the server reads no more from this client. */
  readonly queuedBytes: number
  /** The bytes that wait for all clients together. Above it the clients for which most waits are cut off. */
  readonly allQueuedBytes: number
  /** Frames that bring no call nearer to its answer: this many at once, … */
  readonly idleFrames: number
  /** … and this many a second. Each call allows four more. */
  readonly idleFramesPerSecond: number
  /** Calls that a client resets as soon as it has begun them, before their end, or makes the server reset: this many at once, … */
  readonly resets: number
  /** … and this many a second. */
  readonly resetsPerSecond: number
  /** A client that resets a call later than this after it began does not reset it rapidly: it ran out of patience. */
  readonly rapidResetMs: number
  /** From the connection to the end of the TLS handshake, and from there to the client's first SETTINGS. */
  readonly helloMs: number
  /** From the beginning of a frame or of a header block to its end. */
  readonly blockMs: number
  /** From the beginning of a call until its request is complete, for calls without a stream of messages. */
  readonly requestMs: number
  /** How long an answer waits for a client that does not take it. */
  readonly stalledMs: number
  /** A connection without calls. */
  readonly idleMs: number
  /** How long a connection that the server has ended waits for its client to read the reason. */
  readonly lingerMs: number
}

/** A client that Envoy, a library of gRPC or a load generator is never comes near these. */
export const defaultBounds: Bounds = {
  connections: 10_000,
  streams: 1_000,
  messageBytes: MOST_MESSAGE_BYTES,
  partialBytes: 4_194_304,
  allPartialBytes: MOST_PARTIAL_BYTES,
  headerBytes: 16_384,
  headerTableBytes: 4_096,
  queuedBytes: 1_048_576,
  allQueuedBytes: 67_108_864,
  idleFrames: 2_000,
  idleFramesPerSecond: 200,
  resets: 500,
  resetsPerSecond: 100,
  rapidResetMs: 10,
  helloMs: 10_000,
  blockMs: 10_000,
  requestMs: 30_000,
  stalledMs: 30_000,
  idleMs: 600_000,
  lingerMs: 1_000,
}
