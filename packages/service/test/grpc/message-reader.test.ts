import fc from 'fast-check'
import { expect, it } from 'vitest'
import { GRPC_STATUS, GrpcError } from '../../src/grpc/grpc-error.js'
import {
  framed,
  MessageReader,
  MOST_MESSAGE_BYTES,
  MOST_PARTIAL_BYTES,
  PartialBytes,
} from '../../src/grpc/message-reader.js'

const message = fc.uint8Array({ maxLength: 1_500 })

function readAll(reader: MessageReader, part: Buffer, whole: (message: Buffer) => void): void {
  for (let at = 0; at < part.length; ) at = reader.read(part, at, part.length, whole)
}

/** Cuts bytes at these places. */
function cut(bytes: Uint8Array, places: readonly number[]): readonly Uint8Array[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...ends].map((start, i) => bytes.subarray(start, ends[i] ?? bytes.length))
}

it('messages are the same however their bytes are cut, and nothing is held afterwards', () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 6 }), fc.array(fc.nat(), { maxLength: 12 }), (messages, places) => {
      const held = new PartialBytes(MOST_PARTIAL_BYTES)
      const reader = new MessageReader(held, MOST_MESSAGE_BYTES, undefined)
      const got: Uint8Array[] = []
      for (const part of cut(Buffer.concat(messages.map(framed)), places)) {
        const bytes = Buffer.from(part)
        readAll(reader, bytes, (each) => got.push(Uint8Array.from(each)))
        // The transport uses the memory of a part again.
        bytes.fill(0xff)
      }
      expect(got).toEqual(messages)
      expect([reader.isInsideMessage, held.held]).toEqual([false, 0])
    }),
  )
})

it('any bytes are messages, the beginning of one, or refused, and little more is held than has come', () => {
  let refused = 0
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 10 }), fc.boolean(), (parts, isPrefixed) => {
      const held = new PartialBytes(MOST_PARTIAL_BYTES)
      const reader = new MessageReader(held, MOST_MESSAGE_BYTES, 'gzip')
      let bytes = 0
      try {
        for (const part of parts) {
          bytes += part.length
          readAll(reader, isPrefixed ? framed(part) : Buffer.from(part), () => {})
          expect(held.held).toBeLessThanOrEqual(Math.max(512, 2 * bytes))
        }
      } catch (error) {
        refused++
        expect(error).toBeInstanceOf(GrpcError)
        const codes: readonly number[] = [
          GRPC_STATUS.internal,
          GRPC_STATUS.unimplemented,
          GRPC_STATUS.resourceExhausted,
        ]
        expect(codes).toContain((error as GrpcError).code)
      }
      reader.clear()
      expect(held.held).toBe(0)
    }),
  )
  expect(refused).toBeGreaterThan(10)
})

it('all calls together hold a bounded number of bytes', () => {
  const held = new PartialBytes(MOST_PARTIAL_BYTES)
  const large = framed(Buffer.alloc(1024 * 1024)).subarray(0, 1024 * 1024)
  const push = () => readAll(new MessageReader(held, MOST_MESSAGE_BYTES, undefined), large, () => {})
  expect(() => {
    for (let i = 0; i < 65; i++) push()
  }).toThrow('the server holds too many messages that are not complete')
  expect(held.held).toBeLessThan(70 * 1024 * 1024)
})
