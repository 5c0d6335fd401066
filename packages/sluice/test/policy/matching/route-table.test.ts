import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { covers, parsePathPattern } from '../../../src/policy/matching/path-pattern.js'
import { RouteTable } from '../../../src/policy/matching/route-table.js'

const segments = ['a', 'b', 'B']
/** Every path of at most three of these segments. */
const paths = ['/', ...[1, 2, 3].flatMap((length) => lists(length).map((each) => `/${each.join('/')}`))]

function lists(length: number): string[][] {
  return length === 0 ? [[]] : lists(length - 1).flatMap((list) => segments.map((segment) => [...list, segment]))
}

const pattern = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', '*'), { maxLength: 2 }), fc.boolean())
  .map(([list, isOpen]) => `/${[...list, ...(isOpen ? ['**'] : [])].join('/')}`)

/** The paths that a pattern surely matches. */
function matched(each: string): ReadonlySet<string> {
  const table = new RouteTable('routes', [each])
  return new Set(paths.filter((path) => table.find('GET', path)[0]?.isSure))
}

describe('routes', () => {
  it('a pattern covers another one if it matches all of its paths', () => {
    fc.assert(
      fc.property(pattern, pattern, (wide, narrow) => {
        const all = matched(wide)
        const isSubset = [...matched(narrow)].every((path) => all.has(path))
        expect(covers(parsePathPattern('path', wide), parsePathPattern('path', narrow))).toBe(isSubset)
      }),
    )
  })

  it('no two of several routes are inside each other, and none is inside itself', () => {
    const route = fc.tuple(fc.constantFrom('', 'GET ', 'POST '), pattern).map(([method, path]) => method + path)
    const routes = fc.uniqueArray(route, { maxLength: 4, selector: (each) => each.replace(/\/$/, '') })
    fc.assert(
      fc.property(routes, (each) => {
        const table = new RouteTable('routes', each)
        for (const one of each.keys())
          for (const other of each.keys()) expect(table.isInside(one, other) && table.isInside(other, one)).toBe(false)
      }),
    )
  })

  it.each([
    ['/a/b', '/a/*', true],
    ['/a/*', '/a/**', true],
    ['/a', '/a/**', true],
    ['POST /a', '/a', true],
    ['/a/b', 'POST /a/**', true],
    ['POST /a/**', '/a/b', false],
    ['/a', 'POST /a', false],
    ['GET /a', 'HEAD /a', false],
    ['/a/*', '/*/b', false],
    ['/A', '/a', false],
  ])('%s is inside %s: %s', (inner, outer, is) => {
    expect(new RouteTable('routes', [inner, outer]).isInside(0, 1)).toBe(is)
  })
})
