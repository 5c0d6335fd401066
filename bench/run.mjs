// `npm run bench [-- [--full] [section …]]`: measures the sections whose names begin with an argument, or all but the
// soak, keeps their results in bench/results/, and writes bench/RESULTS.md from them. A missed goal is reported; it does
// not make the command fail.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { report } from './report.mjs'
import { keepResult } from './results.mjs'
import { sections } from './sections.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { full: { type: 'boolean', default: false } },
})
const wanted = sections.filter(({ name, onlyIfNamed = false }) =>
  positionals.length === 0 ? !onlyIfNamed : positionals.some((start) => name.startsWith(start)),
)
if (wanted.length === 0) {
  console.error(`There is no such section. The sections are: ${sections.map(({ name }) => name).join(', ')}.`)
  process.exit(1)
}

const command = ['npm run bench', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])].join(' ')
for (const section of wanted) {
  console.error(section.title)
  keepResult(section.name, command, await section.measure(values))
}
const results = report()
writeFileSync(new URL('./RESULTS.md', import.meta.url), results)
console.log(results)
