import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { settingsOf } from '../../src/lab/articles/preset.js'
import { PRESETS } from '../../src/lab/articles/presets.js'
import { DraftProblem } from '../../src/lab/settings/draft.js'
import { isWholeInLink, labLink, settingsOfLink } from '../../src/lab/settings/lab-link.js'
import type { LabSettings } from '../../src/lab/settings/lab-settings.js'
import { LAB_ALGORITHMS, limitDraft, limitKnobs } from '../../src/lab/settings/limit-draft.js'
import { TRAFFIC_KINDS, trafficDraft, trafficKnobs, trafficOf } from '../../src/lab/settings/traffic-draft.js'

/** Through an address, as a browser keeps it. */
function throughAddress(settings: LabSettings): LabSettings | undefined {
  const kept = Object.entries(labLink(settings)).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return settingsOfLink(Object.fromEntries(new URLSearchParams(new URLSearchParams(kept).toString())))
}

const typed = fc.oneof(fc.string(), fc.stringMatching(/^[-_*/\d.@ a-z]{0,20}$/))
const valuesOf = (names: readonly string[]) => fc.record(Object.fromEntries(names.map((name) => [name, typed])))
const anyLimit = fc
  .constantFrom(...LAB_ALGORITHMS)
  .chain((kind) => valuesOf(limitKnobs(kind).map(({ name }) => name)).map((values) => limitDraft(kind, values)))
const anyTraffic = fc
  .constantFrom(...TRAFFIC_KINDS.filter((kind) => kind !== 'trace'))
  .chain((kind) => valuesOf(trafficKnobs(kind).map(({ name }) => name)).map((values) => trafficDraft(kind, values)))

describe('a link', () => {
  it('holds all settings, right or wrong', () => {
    const settings = fc.record({
      traffic: anyTraffic,
      cost: fc.string({ minLength: 1 }),
      limits: fc.array(anyLimit, { minLength: 1, maxLength: 5 }),
      preset: fc.constantFrom(undefined, '001-boundary'),
    })
    fc.assert(
      fc.property(settings, (given) => {
        expect(isWholeInLink(given)).toBe(true)
        expect(throughAddress(given)).toEqual(given)
      }),
    )
  })

  it.each(PRESETS)('holds the preset $id', (preset) => {
    expect(throughAddress(settingsOf(preset))).toEqual(settingsOf(preset))
  })

  it('holds the requests of a short trace', () => {
    const times = fc.array(fc.integer({ min: 0, max: 2e9 }), { minLength: 1, maxLength: 90 })
    fc.assert(
      fc.property(times, fc.constantFrom(0, 1_763_514_123_250_000), (offsets, originUs) => {
        const trace = offsets.map((offset) => (originUs + offset) / 1_000).join('\n')
        const given: LabSettings = {
          traffic: trafficDraft('trace', { trace }),
          cost: '1',
          limits: [limitDraft('token-bucket')],
        }
        const read = throughAddress(given)
        expect(isWholeInLink(given)).toBe(true)
        expect(read && trafficOf(read.traffic)).toEqual(trafficOf(given.traffic))
      }),
    )
  })

  it('does not hold a long trace, and says so', () => {
    const trace = Array.from({ length: 5_000 }, (_, i) => i * 7).join('\n')
    const given: LabSettings = {
      traffic: trafficDraft('trace', { trace }),
      cost: '1',
      limits: [limitDraft('sliding-log')],
    }
    expect(isWholeInLink(given)).toBe(false)
    expect(throughAddress(given)?.traffic).toEqual(trafficDraft('trace', { trace: '' }))
  })

  it('that names nothing known is no settings', () => {
    expect(settingsOfLink({})).toBeUndefined()
    expect(settingsOfLink({ traffic: 'flood_1', l1: 'token-bucket_20_5-s' })).toBeUndefined()
    expect(settingsOfLink({ traffic: 'steady_1-s_10s', l1: 'constructor_1' })).toBeUndefined()
  })

  it('with a broken trace has an empty trace', () => {
    const read = settingsOfLink({ traffic: 'trace_0_1.!.3', l1: 'token-bucket' })
    expect(read?.traffic.values.trace).toBe('')
    expect(read && trafficOf(read.traffic)).toBeInstanceOf(DraftProblem)
  })

  it('is short and can be read', () => {
    const { preset, ...values } = labLink(settingsOf(PRESETS[0]))
    expect(preset).toBe('001-boundary')
    expect(values.traffic).toBe('boundary_100_59.9s_60.1s_2m')
    expect(values.l4).toBe('token-bucket_100_100-m')
  })
})
