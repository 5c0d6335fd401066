import { expect, it } from 'vitest'
import { parseExposition } from '../../../sluice/test/metrics/parse-exposition.js'
import { mergeScrapes } from '../../dist/recorder/merge-scrapes.js'
import { ScrapeRound } from '../../dist/serve/scrape-round.js'

const text = (value: number) => `# HELP a_total A { b.
# TYPE a_total counter
a_total{name="x{ y",le="1"} ${value}
# HELP b B.
# TYPE b gauge
b ${value}
`

it('puts the metrics of several processes into one text that Prometheus reads', () => {
  const more = `${text(2)}# HELP c C.\n# TYPE c gauge\nc 1\n`
  const merged = parseExposition(
    mergeScrapes(
      new Map([
        ['1', text(1)],
        ['2', more],
      ]),
    ),
  )
  expect([...merged.keys()]).toEqual(['a_total', 'b', 'c'])
  expect([...(merged.get('a_total')?.samples ?? [])]).toEqual([
    ['a_total{le="1",name="x{ y",worker="1"}', 1],
    ['a_total{le="1",name="x{ y",worker="2"}', 2],
  ])
  expect([...(merged.get('b')?.samples ?? [])]).toEqual([
    ['b{worker="1"}', 1],
    ['b{worker="2"}', 2],
  ])
  expect(merged.get('c')?.samples.get('c{worker="2"}')).toBe(1)
})

it('ends a round once, when every worker has reported or ended', () => {
  const ended: string[] = []
  const round = new ScrapeRound(['1', '2', '3'], (merged) => ended.push(merged))
  round.report('1', text(1))
  round.report('1', text(5))
  round.report('2')
  expect(ended).toEqual([])
  round.report('3', text(3))
  round.report('3', text(3))
  expect(ended).toHaveLength(1)
  expect(parseExposition(ended[0]).get('b')?.samples.size).toBe(2)
})
