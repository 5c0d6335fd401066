/** The types of frames of RFC 9113, section 6. A type that is not here is ignored, as the RFC demands. */
export const FrameType = {
  data: 0x0,
  headers: 0x1,
  priority: 0x2,
  rstStream: 0x3,
  settings: 0x4,
  pushPromise: 0x5,
  ping: 0x6,
  goaway: 0x7,
  windowUpdate: 0x8,
  continuation: 0x9,
} as const

/** The flags of frames. END_STREAM and ACK share a bit: no type of frame has both. */
export const FrameFlag = {
  endStream: 0x1,
  ack: 0x1,
  endHeaders: 0x4,
  padded: 0x8,
  priority: 0x20,
} as const

/** Length (3 bytes), type, flags, stream (4 bytes). */
export const FRAME_HEAD_BYTES = 9

/** The largest payload of a frame that this server takes, and that every peer takes: the least that the RFC allows. */
export const MAX_FRAME_BYTES = 16_384

/** The largest window of flow control. */
export const MAX_WINDOW = 2 ** 31 - 1
