import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url))
const TOKENS = readFileSync(`${SOURCES}style/tokens.css`, 'utf8')
const OUTCOMES = ['admitted', 'denied', 'degraded', 'waiting']

/** How people see linear red, green and blue who lack one kind of cone (Machado, Oliveira and Fernandes, 2009). */
const SIGHTS = {
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
}

/** In CIELAB a difference of 2 can just be seen; this one is seen at a glance. */
const CLEAR = 15

/** A colour, or a size of letters that does not follow from another one. */
const COLOUR_OR_SIZE = /#(?:[\da-f]{3}){1,2}(?=[;,) ])|\b(?:rgb|hsl|oklch)a?\(|font-size: *[\d.]+(?:px|rem)/gi

type Triple = readonly number[]

test.each(['light', 'dark'] as const)(
  'in the %s theme, outcomes have colours that people without red or green tell apart',
  (theme) => {
    const colours = coloursOf(theme)
    const pairs = OUTCOMES.flatMap((one, i) => OUTCOMES.slice(i + 1).map((other) => [one, other]))
    for (const [sight, matrix] of Object.entries(SIGHTS))
      for (const pair of pairs) {
        const [a, b] = pair.map((name) => labOf(times(matrix, colours[name])))
        expect(Math.hypot(...a.map((value, at) => value - b[at])), `${sight}: ${pair}`).toBeGreaterThan(CLEAR)
      }
  },
)

test('colours and sizes of letters have names, which one file gives', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.(css|html|tsx)$/.test(file),
  )
  expect(files.length).toBeGreaterThan(50)
  const named = files
    .filter((file) => !file.endsWith('tokens.css'))
    .flatMap((file) =>
      [...readFileSync(SOURCES + file, 'utf8').matchAll(COLOUR_OR_SIZE)].map(([found]) => `${file}: ${found}`),
    )
  expect(named).toEqual([])
})

test('the dark theme is the same, whether the system or the person chooses it', () => {
  const [, chosen, system] = TOKENS.split(/:root\[data-theme="dark"\]|:root:not\(\[data-theme\]\)/)
  const valuesOf = (text: string) => [...text.split('}')[0].matchAll(/--[\w-]+: .*;/g)].map(([value]) => value)
  expect(valuesOf(chosen).length).toBeGreaterThan(15)
  expect(valuesOf(system)).toEqual(valuesOf(chosen))
})

/** Linear red, green and blue from 0 to 1. */
function coloursOf(theme: 'light' | 'dark'): Readonly<Record<string, Triple>> {
  const [light, dark] = TOKENS.split(':root[data-theme="dark"]')
  const found = (theme === 'light' ? light : dark).matchAll(/--(\w+): #(\w{2})(\w{2})(\w{2});/g)
  const all = [...found].map(([, name, ...digits]) => [
    name,
    digits.map((each) => linear(Number.parseInt(each, 16) / 255)),
  ])
  return Object.fromEntries(all.reverse())
}

function linear(value: number): number {
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
}

function times(matrix: readonly Triple[], vector: Triple): Triple {
  return matrix.map((row) =>
    Math.min(
      1,
      Math.max(
        0,
        row.reduce((sum, each, at) => sum + each * vector[at], 0),
      ),
    ),
  )
}

/** CIELAB under daylight. */
function labOf(rgb: Triple): Triple {
  const toXyz = [
    [0.4124, 0.3576, 0.1805],
    [0.2126, 0.7152, 0.0722],
    [0.0193, 0.1192, 0.9505],
  ]
  const white = [0.9505, 1, 1.089]
  const [x, y, z] = times(toXyz, rgb).map((value, at) => root(value / white[at]))
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)]
}

function root(value: number): number {
  return value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116
}
