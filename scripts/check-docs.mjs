// Compiles every TypeScript example of the documentation as its own module, against the built packages, as a user would.
// Examples marked `ts run` also run; those marked `ts no-check` are left out. Those marked `ts alone` are compiled apart, those of
// a document together: types which they add to a framework reach no other example. A module starts with as many empty lines as its
// document has above the example, so that tsc's line numbers are right. Also checks that every relative link of the
// documentation leads to a file and a heading that exist, and that docs/api.md has every export.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { checkApiPage } from './api-page.mjs'
import { examplesInMarkdown, examplesInSource } from './doc-examples.mjs'
import { brokenLinks } from './doc-links.mjs'
import { fail, runNode, runTool } from './run-command.mjs'
import { packageFolders, root } from './workspaces.mjs'

const cache = join(root, 'node_modules/.cache/sluice-docs')
const compilerOptions = {
  target: 'ES2022',
  module: 'NodeNext',
  lib: ['ES2023', 'ESNext.Disposable'],
  types: ['node'],
  strict: true,
  skipLibCheck: true,
  moduleDetection: 'force',
  rootDir: '.',
  outDir: 'out',
}

checkLinks()
tryTo(checkApiPage)
const examples = documents().flatMap(readExamples)
const checked = examples.filter(({ flags }) => !flags.includes('no-check'))
const runnable = checked.filter(({ flags }) => flags.includes('run'))

writeModules()
for (const program of programs()) compile(program)
for (const example of runnable) execute(example)
console.log(`${checked.length} compile, ${runnable.length} run, ${examples.length - checked.length} not checked`)

function documents() {
  return [...markdownFiles(), ...packageFolders().flatMap((folder) => filesUnder(`${folder}/src`, '.ts'))]
}

function markdownFiles() {
  const named = ['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'examples/README.md']
  const present = named.filter((file) => existsSync(join(root, file)))
  return [...present, ...filesUnder('docs', '.md')]
}

function checkLinks() {
  const broken = markdownFiles().flatMap((file) =>
    brokenLinks(file, readFileSync(join(root, file), 'utf8'), readTarget).map(
      ({ line, link }) => `${file}:${line} links to ${link}, which does not exist`,
    ),
  )
  if (broken.length) fail(broken.join('\n'))
}

function tryTo(check) {
  try {
    check()
  } catch (error) {
    fail(error.message)
  }
}

function readTarget(path) {
  const target = join(root, path)
  if (!existsSync(target)) return undefined
  return statSync(target).isFile() ? readFileSync(target, 'utf8') : ''
}

function filesUnder(folder, ending) {
  if (!existsSync(join(root, folder))) return []
  const names = readdirSync(join(root, folder), { recursive: true }).filter((name) => name.endsWith(ending))
  return names.map((name) => `${folder}/${name.split(sep).join('/')}`).sort()
}

function readExamples(file) {
  const text = readFileSync(join(root, file), 'utf8')
  try {
    const found = file.endsWith('.md') ? examplesInMarkdown(text) : examplesInSource(text)
    return found.map((example) => ({ ...example, file, name: `${file.replaceAll('/', '__')}-${example.line}` }))
  } catch (error) {
    return fail(`${file}, ${error.message}`)
  }
}

function writeModules() {
  rmSync(cache, { recursive: true, force: true })
  mkdirSync(cache, { recursive: true })
  for (const { name, line, code } of checked) writeFileSync(join(cache, `${name}.ts`), '\n'.repeat(line - 1) + code)
  writeFileSync(join(cache, 'package.json'), JSON.stringify({ type: 'module' }))
}

function programs() {
  const byName = new Map()
  for (const example of checked) {
    const name = example.flags.includes('alone') ? example.file : ''
    byName.set(name, [...(byName.get(name) ?? []), example])
  }
  return byName.values()
}

function compile(program) {
  const names = program.map(({ name }) => `${name}.ts`)
  writeFileSync(join(cache, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: names }))
  const { ok, output } = runTool('typescript', ['-p', '.', '--pretty', 'false'], { cwd: cache })
  if (ok) return
  const files = new Map(program.map(({ name, file }) => [`${name}.ts`, file]))
  fail(
    output.replace(/^(\S+\.ts)\((\d+),\d+\)/gm, (all, name, line) =>
      files.has(name) ? `${files.get(name)}:${line}` : all,
    ),
  )
}

function execute({ name, file, line }) {
  const { ok, output } = runNode([join(cache, 'out', `${name}.js`)], { cwd: cache, timeoutMs: 30_000 })
  if (!ok) fail(`${file}:${line} does not run\n${output}`)
}
