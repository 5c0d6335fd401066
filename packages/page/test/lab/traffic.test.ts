import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readTrace } from '../../src/lab/engine/read-trace.js'
import { DraftProblem } from '../../src/lab/settings/draft.js'
import { limitDraft, limitOf } from '../../src/lab/settings/limit-draft.js'
import { MOST_ARRIVALS, type TrafficKind, trafficDraft, trafficOf } from '../../src/lab/settings/traffic-draft.js'

const timesOf = (kind: TrafficKind, values: Record<string, string>) => {
  const traffic = trafficOf(trafficDraft(kind, values))
  if (traffic instanceof DraftProblem) throw traffic
  return [...traffic.atUs]
}

const problemOf = (kind: TrafficKind, values: Record<string, string>) => {
  const traffic = trafficOf(trafficDraft(kind, values))
  if (!(traffic instanceof DraftProblem)) throw new Error('these can be used')
  return traffic
}

describe('traffic', () => {
  it('comes at equal distances', () => {
    expect(timesOf('steady', { rate: '4/s', length: '1s' })).toEqual([0, 250_000, 500_000, 750_000])
  })

  it('comes in bursts', () => {
    expect(timesOf('burst', { size: '2', every: '1s', length: '2s' })).toEqual([0, 0, 1e6, 1e6])
  })

  it('comes on both sides of a boundary', () => {
    expect(timesOf('boundary', { size: '2' })).toEqual([59_900_000, 59_900_000, 60_100_000, 60_100_000])
  })

  it('comes for a while and pauses for a while', () => {
    const times = timesOf('on-off', { rate: '2/s', on: '1s', off: '1s', length: '4s' })
    expect(times).toEqual([0, 500_000, 2e6, 2_500_000])
  })

  it('comes at listed times', () => {
    expect(timesOf('list', { list: '1@0.05, 2@0', length: '1s' })).toEqual([0, 0, 50_000])
  })

  it('comes again and again where a list says so', () => {
    expect(timesOf('list', { list: '2@0.1+0.1x3', length: '1s' })).toEqual([1e5, 1e5, 2e5, 2e5, 3e5, 3e5])
  })

  it('of no request is quickly read, however often it comes again', () => {
    const nothing = Array<string>(2_000).fill('0@0+0x999999').join(' ')
    expect(timesOf('list', { list: `${nothing} 1@0`, length: '1s' })).toEqual([0])
  }, 5_000)

  it('is random, but the same for the same seed', () => {
    const random = { rate: '100/s', length: '100s' }
    const times = timesOf('poisson', { ...random, seed: '7' })
    expect(timesOf('poisson', { ...random, seed: '7' })).toEqual(times)
    expect(timesOf('poisson', { ...random, seed: '8' })).not.toEqual(times)
    // 10,000 are expected; four standard deviations are 400.
    expect(Math.abs(times.length - 10_000)).toBeLessThan(400)
    const gaps = times.slice(1).map((at, i) => at - times[i])
    const longerThanMean = gaps.filter((gap) => gap > 10_000).length / gaps.length
    expect(longerThanMean).toBeCloseTo(1 / Math.E, 1)
  })

  it('is never more than a browser can draw', () => {
    expect(problemOf('steady', { rate: '10000/ms', length: '1h' }).message).toContain('at most 100,000')
    expect(problemOf('burst', { size: '100000', every: '1ms', length: '1s' })).toMatchObject({ knob: 'size' })
    expect(problemOf('list', { list: '999999@0' }).message).toContain(`more than ${MOST_ARRIVALS.toLocaleString('en')}`)
  })

  it('says what is wrong in the words of the library', () => {
    expect(problemOf('steady', { rate: '5' })).toMatchObject({
      knob: 'rate',
      message: expect.stringContaining("'5/s'"),
    })
    expect(problemOf('steady', { length: '10' })).toMatchObject({
      knob: 'length',
      message: expect.stringContaining('10s'),
    })
    expect(problemOf('list', { list: '20@0 1x5' }).message).toContain('“1x5”')
    expect(problemOf('poisson', { seed: '1.5' }).message).toContain('whole number')
  })
})

describe('a limit as it is typed', () => {
  it('is the limit of the library', () => {
    expect(limitOf(limitDraft('token-bucket', { capacity: '20', refill: '5/s' }))).toEqual({
      algorithm: 'token-bucket',
      capacity: 20,
      refill: '5/s',
    })
  })

  it.each([
    ['capacity', '2.5', 'a whole number'],
    ['capacity', 'many', "'many'"],
    ['capacity', '', 'a whole number'],
    ['refill', '5', "a rate such as '5/s'"],
    ['refill', '0/s', 'above zero'],
  ])('with a wrong %s of "%s" says what would be right', (knob, value, words) => {
    expect(limitOf(limitDraft('token-bucket', { [knob]: value }))).toMatchObject({
      knob,
      message: expect.stringContaining(words),
    })
  })
})

describe('a trace', () => {
  it.each([
    ['milliseconds', '0\n12.5\n1000', 0, [0, 12_500, 1_000_000]],
    ['epoch milliseconds', '1763514123250\n1763514124000', 1_763_514_123_000_000, [250_000, 1_000_000]],
    [
      'ISO times',
      '2025-11-19T01:02:03.250Z GET /\n2025-11-19T02:02:04+01:00',
      1_763_514_123_000_000,
      [250_000, 1_000_000],
    ],
    ['ISO times without a zone, as UTC', '2025-11-19 01:02:03,250\n', 1_763_514_123_000_000, [250_000]],
    [
      'an access log',
      '10.0.0.1 - - [19/Nov/2025:02:02:03 +0100] "GET / HTTP/1.1" 200 5\n::1 - bob [19/Nov/2025:01:02:05 +0000] "-"',
      1_763_514_123_000_000,
      [0, 2_000_000],
    ],
    ['lines out of order, with comments and gaps', '# ms\n\n30\r\n10\n', 0, [10_000, 30_000]],
  ])('of %s is read', (_, text, originUs, times) => {
    const traffic = readTrace(text)
    expect({ originUs: traffic.originUs, times: [...traffic.atUs] }).toEqual({ originUs, times })
    expect(traffic.lengthUs).toBeGreaterThan(times.at(-1) as number)
  })

  it.each([
    ['10\nnonsense\n30', 'Line 2', 'nonsense'],
    ['10\n\n[40/Foo/2025:01:02:03 +0000]', 'Line 3', '40/Foo'],
    ['2025-13-45T99:00:00Z', 'Line 1', 'ISO'],
    ['-5', 'Line 1', 'milliseconds'],
    ['  \n# nothing', 'empty', 'access log'],
    ['0\n9999999999', 'longer than 31 days', 'shorter'],
  ])('%j is refused with its line', (text, first, second) => {
    const { message, knob } = problemOf('trace', { trace: text })
    expect(message).toContain(first)
    expect(message).toContain(second)
    expect(knob).toBe('trace')
  })

  it('may not be larger than a browser can draw', () => {
    expect(problemOf('trace', { trace: '1\n'.repeat(100_001) }).message).toContain('more than 100,000 requests')
    expect(problemOf('trace', { trace: ' '.repeat(20_000_001) }).message).toContain('20 million')
  })

  it('of any text is read or refused, never more', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[\dTZ:[\]/+\-. \n]{0,60}$/)), (text) => {
        const traffic = trafficOf(trafficDraft('trace', { trace: text }))
        if (!(traffic instanceof DraftProblem)) expect(traffic.atUs.every((at) => at >= 0)).toBe(true)
      }),
    )
  })
})
