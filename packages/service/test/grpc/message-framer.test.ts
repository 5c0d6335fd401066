import fc from 'fast-check'
import { expect, it } from 'vitest'
import { GRPC_STATUS, GrpcError } from '../../src/grpc/grpc-error.js'
import { framed, isWholeMessage, MessageFramer } from '../../src/grpc/message-framer.js'

const message = fc.uint8Array({ maxLength: 1_500 })

/** Cuts bytes at these places. */
function cut(bytes: Uint8Array, places: readonly number[]): readonly Uint8Array[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...ends].map((start, i) => bytes.subarray(start, ends[i] ?? bytes.length))
}

it('messages are the same however their bytes are cut, and nothing is held afterwards', () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 6 }), fc.array(fc.nat(), { maxLength: 12 }), (messages, places) => {
      const held = { count: 0 }
      const framer = new MessageFramer(held, undefined)
      const got: Uint8Array[] = []
      for (const part of cut(Buffer.concat(messages.map(framed)), places)) {
        const bytes = Buffer.from(part)
        framer.push(bytes, (each) => got.push(Uint8Array.from(each)))
        // The transport uses the memory of a part again.
        bytes.fill(0xff)
      }
      expect(got).toEqual(messages)
      expect([framer.isWithin, held.count]).toEqual([false, 0])
    }),
  )
})

it('any bytes are messages, the beginning of one, or refused, and little more is held than has come', () => {
  let refused = 0
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 10 }), fc.boolean(), (parts, isPrefixed) => {
      const held = { count: 0 }
      const framer = new MessageFramer(held, 'gzip')
      let bytes = 0
      try {
        for (const part of parts) {
          bytes += part.length
          framer.push(isPrefixed ? framed(part) : part, () => {})
          expect(held.count).toBeLessThanOrEqual(Math.max(512, 2 * bytes))
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
      framer.drop()
      expect(held.count).toBe(0)
    }),
  )
  expect(refused).toBeGreaterThan(10)
})

it('only exactly one whole message is one', () => {
  fc.assert(
    fc.property(message, (bytes) => {
      const whole = framed(bytes)
      expect(isWholeMessage(whole)).toBe(true)
      expect(isWholeMessage(whole.subarray(0, -1))).toBe(false)
      expect(isWholeMessage(Buffer.concat([whole, Buffer.from([0])]))).toBe(false)
      whole[0] = 1
      expect(isWholeMessage(whole)).toBe(false)
    }),
  )
})

it('all calls together hold a bounded number of bytes', () => {
  const held = { count: 0 }
  const large = framed(Buffer.alloc(1024 * 1024)).subarray(0, 1024 * 1024)
  const push = () => new MessageFramer(held, undefined).push(large, () => {})
  expect(() => {
    for (let i = 0; i < 65; i++) push()
  }).toThrow('the server holds too many messages that are not complete')
  expect(held.count).toBeLessThan(70 * 1024 * 1024)
})
