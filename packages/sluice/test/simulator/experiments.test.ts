import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { growthPlot, scatterPlot } from '../../../../scripts/simulation/plots.mjs'
import { tableOf } from '../../../../scripts/simulation/table.mjs'
import { isLong } from '../property/arbitraries.js'
import { compare, grow, SIZES } from './experiments.js'

const docs = new URL('../../../../docs/', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, docs), 'utf8')

/** If one of these fails because a strategy has changed, `node scripts/simulate.mjs` writes the page anew. Read it after that. */
describe('docs/simulation.md', () => {
  it('has the table and the plot of accuracy that the experiments compute', async () => {
    const rows = await compare()
    expect(read('simulation.md')).toContain(`<!-- table -->\n\n${tableOf(rows)}\n<!-- end of table -->`)
    expect(read('pictures/accuracy.svg')).toBe(scatterPlot(rows))
  }, 120_000)

  it.runIf(isLong)('has the plot of messages that the experiments compute', { timeout: 120_000 }, async () => {
    expect(read('pictures/growth.svg')).toBe(growthPlot(SIZES, await grow(SIZES)))
  })

  it('has the messages of up to 50 nodes as the experiments compute them', { timeout: 120_000 }, async () => {
    const few = SIZES.filter((nodes) => nodes <= 50)
    const drawn = linesOf(read('pictures/growth.svg'))
    for (const line of linesOf(growthPlot(few, await grow(few))))
      expect(drawn.some((longer) => longer.startsWith(line))).toBe(true)
  })
})

/** The points of each line of a plot. */
function linesOf(plot: string): string[] {
  return [...plot.matchAll(/<polyline points="([^"]*)"/g)].map(([, points]) => points)
}
