// Runs the experiments of the simulator, and writes the table and the plots of docs/simulation.md: `node scripts/simulate.mjs`.
// Build first. The same seed gives the same numbers on every machine.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { growthPlot, scatterPlot } from './simulation/plots.mjs'
import { root } from './workspaces.mjs'

const SIZES = [1, 2, 5, 10, 20, 50, 100, 200, 500]
const PAGE = join(root, 'docs/simulation.md')
const PICTURES = join(root, 'docs/pictures')

const { compare, grow } = await loadExperiments()
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

function tableOf(all) {
  const percent = (share) => `${(100 * share).toFixed(1)} %`
  const header = [
    '',
    'mean over',
    'peak over',
    'spread 100 ms',
    'spread 1 s',
    'worst interval',
    'Jain',
    'follows after',
    'messages',
  ]
  const lines = all.map((row) => [
    row.strategy,
    percent(row.meanOver),
    percent(row.peakOver),
    percent(row.spread100Ms),
    percent(row.spread1S),
    row.worstInterval.toFixed(2),
    row.jain.toFixed(3),
    row.convergenceMs === undefined ? 'never' : `${row.convergenceMs} ms`,
    row.messages.toFixed(3),
  ])
  const widths = header.map((_, i) => Math.max(...[header, ...lines].map((cells) => cells[i].length)))
  const line = (cells) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join(' | ')} |`
  const rule = `| ${widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  return `${[line(header), rule, ...lines.map(line)].join('\n')}\n`
}
