import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SseParser } from '../../src/live/sse-parser.js'

const STREAM = [
  ': a comment',
  'event: hello',
  'data: {"a":1}',
  '',
  'id: 7',
  'data:first line',
  'data: second line',
  '',
  'event: without-data',
  '',
  'retry: 10',
  'event: frame',
  'data',
  '',
  '',
]

const EVENTS = [
  { name: 'hello', data: '{"a":1}' },
  { name: 'message', data: 'first line\nsecond line' },
  { name: 'frame', data: '' },
]

function eventsOf(pieces: readonly string[]) {
  const parser = new SseParser()
  return pieces.flatMap((piece) => parser.push(piece))
}

describe('SseParser', () => {
  it.each(['\n', '\r\n', '\r'])('reads events whose lines end in %j', (end) => {
    expect(eventsOf([STREAM.join(end)])).toEqual(EVENTS)
  })

  it('reads the same events however the stream is cut', () => {
    const anyEnd = fc.array(fc.constantFrom('\n', '\r\n', '\r'), { minLength: STREAM.length, maxLength: STREAM.length })
    fc.assert(
      fc.property(anyEnd, fc.array(fc.nat({ max: 200 })), (ends, cuts) => {
        const text = STREAM.map((line, at) => (at === STREAM.length - 1 ? line : line + ends[at])).join('')
        const sorted = [...new Set([0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length])].sort(
          (a, b) => a - b,
        )
        const pieces = sorted.slice(1).map((end, at) => text.slice(sorted[at], end))
        expect(eventsOf(pieces)).toEqual(eventsOf([text]))
      }),
    )
  })

  it('gives an event when its empty line has come, not before', () => {
    const parser = new SseParser()
    expect(parser.push('event: frame\ndata: 1\n')).toEqual([])
    expect(parser.push('\n')).toEqual([{ name: 'frame', data: '1' }])
  })

  it('drops what the end of a stream leaves unfinished', () => {
    expect(eventsOf(['data: 1\n\ndata: 2'])).toEqual([{ name: 'message', data: '1' }])
  })

  it('keeps colons and all but the first space of a value', () => {
    expect(eventsOf(['data:  a: b\n\n'])).toEqual([{ name: 'message', data: ' a: b' }])
  })
})
