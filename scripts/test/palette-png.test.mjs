import { inflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { palettePng } from '../palette-png.mjs'

test('a picture of few colours keeps every pixel', () => {
  const colours = [
    [255, 255, 255],
    [255, 255, 255],
    [47, 95, 208],
    [201, 72, 10],
    [0, 0, 0],
    [254, 255, 255],
  ]
  expect(read(palettePng(pictureOf(3, 2, colours)))).toEqual({ width: 3, height: 2, colours })
})

test('a picture of many colours keeps rare ones that are far from all others', () => {
  const shades = Array.from({ length: 40_000 }, (_, at) => [at % 200, Math.floor(at / 200), 255])
  const colours = [[255, 0, 0], ...shades.slice(1)]
  const shown = read(palettePng(pictureOf(200, 200, colours))).colours
  expect(shown[0]).toEqual([255, 0, 0])
  const far = colours.filter((colour, at) => Math.hypot(...colour.map((part, i) => part - shown[at][i])) > 24)
  expect(far).toEqual([])
})

function pictureOf(width, height, colours) {
  return { width, height, rgba: Buffer.from(colours.flatMap((colour) => [...colour, 255])) }
}

/** Reads the PNG as a viewer does. */
function read(png) {
  const chunks = new Map()
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
    chunks.set(png.toString('latin1', at + 4, at + 8), png.subarray(at + 8, at + 8 + png.readUInt32BE(at)))
  const header = chunks.get('IHDR')
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const palette = chunks.get('PLTE')
  const rows = inflateSync(chunks.get('IDAT'))
  const places = [...rows].filter((_, at) => at % (width + 1) !== 0)
  return { width, height, colours: places.map((place) => [...palette.subarray(place * 3, place * 3 + 3)]) }
}
