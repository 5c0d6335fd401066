import { expect, test } from 'vitest'
import { tourPlace } from '../../src/tour/tour-place.js'

const POPOVER = { width: 360, height: 180 }
const DESK = { width: 1440, height: 900 }
const PHONE = { width: 375, height: 812 }

test('the popover stands below its place if there is room', () => {
  expect(tourPlace({ left: 40, top: 100, width: 600, height: 200 }, POPOVER, DESK)).toEqual({ left: 40, top: 312 })
})

test('it stands above a place at the lower edge', () => {
  expect(tourPlace({ left: 40, top: 700, width: 600, height: 190 }, POPOVER, DESK)).toEqual({ left: 40, top: 508 })
})

test('it stays in the window, whatever the place is', () => {
  const places = [
    { left: 1400, top: 5, width: 30, height: 30 },
    { left: -500, top: -300, width: 2000, height: 3000 },
    { left: 20, top: 5000, width: 10, height: 10 },
  ]
  for (const place of places)
    for (const window of [DESK, PHONE]) {
      const { left, top } = tourPlace(place, { width: 351, height: 180 }, window)
      expect(left).toBeGreaterThanOrEqual(12)
      expect(top).toBeGreaterThanOrEqual(12)
      expect(left + 351 + 12).toBeLessThanOrEqual(window.width)
      expect(top + 180 + 12).toBeLessThanOrEqual(window.height)
    }
})
