// Runs the experiments of the simulator, and writes the table and the plots of docs/simulation.md: `node scripts/simulate.mjs`.
// Build first. The same seed gives the same numbers on every machine.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { growthPlot, scatterPlot } from './simulation/plots.mjs'
import { tableOf } from './simulation/table.mjs'
import { root } from './workspaces.mjs'

const PAGE = join(root, 'docs/simulation.md')
const PICTURES = join(root, 'docs/pictures')

const { compare, grow, SIZES } = await loadExperiments()
const rows = await compare()
const growth = await grow(SIZES)
const page = readFileSync(PAGE, 'utf8')
writeFileSync(PAGE, page.replace(/(<!-- table -->\n)[\s\S]*?(\n<!-- end of table -->)/, `$1\n${tableOf(rows)}$2`))
writeFileSync(join(PICTURES, 'accuracy.svg'), scatterPlot(rows))
writeFileSync(join(PICTURES, 'growth.svg'), growthPlot(SIZES, growth))
console.log(tableOf(rows))
console.log(growth)

/** The experiments are TypeScript beside the tests; the packages that they use are the built ones. */
async function loadExperiments() {
  const outfile = join(root, 'node_modules/.cache/sluice-experiments.mjs')
  await build({
    entryPoints: [join(root, 'packages/sluice/test/simulator/experiments.ts')],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  })
  return import(pathToFileURL(outfile).href)
}
