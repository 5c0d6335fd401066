import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chartKeys } from '../../src/live/chart-keys.js'
import { movedRange, readLiveSettings, scaledRange, shownRange } from '../../src/live/live-settings.js'

const DEFAULTS = { window: '5m', zoom: undefined, isPaused: false, level: undefined, order: 'denials', filter: '' }

describe('the settings of the live view', () => {
  it('are read from the address', () => {
    const values = { window: '1h', zoom: '100-160.5', paused: 'yes', level: 'charges', sort: 'name', filter: 'a' }
    expect(readLiveSettings(values)).toEqual({
      window: '1h',
      zoom: { fromMs: 100_000, toMs: 160_500 },
      isPaused: true,
      level: 'charges',
      order: 'name',
      filter: 'a',
    })
  })

  it.each([
    { window: '7m' },
    { zoom: '200-100' },
    { zoom: '100-101' },
    { zoom: 'x' },
    { paused: 'no' },
    { sort: 'constructor' },
    {},
  ])('are the defaults for %j', (values) => {
    expect(readLiveSettings(values as Record<string, string>)).toEqual(DEFAULTS)
  })

  it('never fail, whatever the address has', () => {
    const texts = fc.record({ window: fc.string(), zoom: fc.string(), paused: fc.string(), sort: fc.string() })
    fc.assert(
      fc.property(texts, (values) => {
        const { fromMs, toMs } = shownRange(readLiveSettings(values), 4e12)
        expect(toMs - fromMs).toBeGreaterThanOrEqual(5_000)
      }),
    )
  })

  it('show a window that ends with the last frame, or the zoom', () => {
    expect(shownRange(readLiveSettings({ window: '1m' }), 100_000)).toEqual({ fromMs: 40_000, toMs: 100_000 })
    expect(shownRange(readLiveSettings({ zoom: '1-9' }), 100_000)).toEqual({ fromMs: 1_000, toMs: 9_000 })
  })
})

describe('ranges', () => {
  const range = { fromMs: 100, toMs: 200 }

  it('are scaled around a time that stays', () => {
    expect(scaledRange(range, 0.5, 200)).toEqual({ fromMs: 150, toMs: 200 })
    expect(scaledRange(range, 2, 150)).toEqual({ fromMs: 50, toMs: 250 })
    expect(scaledRange(range, 0.5, 999)).toEqual({ fromMs: 150, toMs: 200 })
  })

  it('are moved by a part of their length', () => {
    expect(movedRange(range, -0.25)).toEqual({ fromMs: 75, toMs: 175 })
  })
})

describe('chartKeys', () => {
  const at = { range: { fromMs: 0, toMs: 100 }, row: 0, rows: 3, hasShift: false }

  it('goes from value to value and stops at the ends', () => {
    expect(chartKeys('ArrowRight', at)).toEqual({ row: 1 })
    expect(chartKeys('ArrowLeft', at)).toEqual({ row: 0 })
    expect(chartKeys('ArrowRight', { ...at, row: 3 })).toEqual({ row: 2 })
    expect(chartKeys('End', at)).toEqual({ row: 2 })
    expect(chartKeys('Home', { ...at, row: 2 })).toEqual({ row: 0 })
    expect(chartKeys('End', { ...at, rows: 0 })).toEqual({ row: 0 })
  })

  it('zooms and moves in time', () => {
    expect(chartKeys('+', at)).toEqual({ zoom: { fromMs: 25, toMs: 75 } })
    expect(chartKeys('-', at)).toEqual({ zoom: { fromMs: -50, toMs: 150 } })
    expect(chartKeys('ArrowLeft', { ...at, hasShift: true })).toEqual({ zoom: { fromMs: -25, toMs: 75 } })
    expect(chartKeys('Escape', at)).toEqual({ zoom: 'out' })
  })

  it('leaves other keys alone', () => {
    expect(chartKeys('Tab', at)).toBeUndefined()
    expect(chartKeys('constructor', at)).toBeUndefined()
  })
})
