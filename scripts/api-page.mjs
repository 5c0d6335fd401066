// Writes docs/api.md: every export of every entry point of the library, with the first sentence of its doc comment. It reads the
// built declarations, because TypeScript 7 has no compiler API that a documentation generator could use. check-docs.mjs
// fails if the page is not up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { findDeclaration, moduleSummary, readExports } from './declarations.mjs'
import { isMain } from './is-main.mjs'
import { readManifest, root } from './workspaces.mjs'

const folder = 'packages/sluice'
const page = join(root, 'docs/api.md')
const intro = `# API

Every export of every entry point, with the first sentence of its documentation. Your editor shows the rest, with the options
and an example. \`node scripts/api-page.mjs\` writes this page from the declarations, and \`npm test\` checks it.
`

/** Throws if docs/api.md is not what the declarations say, or if an export has no doc comment. */
export function checkApiPage() {
  if (readFileSync(page, 'utf8') !== apiPage())
    throw new Error('docs/api.md is not what the declarations say: run `node scripts/api-page.mjs` after the build')
}

/** The text of the page. */
function apiPage() {
  const problems = []
  const sections = Object.entries(readManifest(folder).exports)
    .filter(([, target]) => target.types !== undefined)
    .map(([entry, { types }]) => section(`sluice${entry.slice(1)}`, join(root, folder, types), problems))
  if (problems.length) throw new Error(problems.join('\n'))
  return `${intro}\n${sections.join('\n')}`
}

function section(name, file, problems) {
  const entries = [...exportsOf(file)].map(([exported, from]) => ({ exported, ...declarationOf(from) }))
  for (const { exported, summary, at } of entries)
    if (!summary) problems.push(`${exported} of ${at} has no doc comment`)
  const [values, types] = [false, true].map((isType) =>
    entries.filter((each) => each.isType === isType).sort((a, b) => (a.exported < b.exported ? -1 : 1)),
  )
  const summary = moduleSummary(readFileSync(file, 'utf8'))
  return [
    `## \`${name}\``,
    '',
    ...(summary ? [summary, ''] : []),
    ...table('export', values),
    ...table('type', types),
  ].join('\n')
}

function table(title, entries) {
  if (entries.length === 0) return []
  const rows = entries.map(({ exported, call, summary }) => [
    `\`${exported}${call}\``,
    summary?.replaceAll('|', '\\|') ?? '',
  ])
  const width = (column) => Math.max(...[[title, ''], ...rows].map((row) => row[column].length), 3)
  const widths = [width(0), width(1)]
  const line = (cells) => `| ${cells.map((cell, i) => cell.padEnd(widths[i])).join(' | ')} |`
  return [line([title, '']), line(widths.map((each) => '-'.repeat(each))), ...rows.map(line), '']
}

/** The exports of a module by name, each with the file and the name of its declaration. */
function exportsOf(file) {
  const found = new Map()
  const { names, all } = readExports(readFileSync(file, 'utf8'))
  for (const source of all) for (const [name, from] of exportsOf(fileOf(file, source))) found.set(name, from)
  for (const { exported, local, source } of names) {
    const from = source === undefined ? { file, local } : exportsOf(fileOf(file, source)).get(local)
    if (from === undefined) throw new Error(`${file} exports ${local} of ${source}, which does not export it`)
    found.set(exported, from)
  }
  return found
}

const fileOf = (file, source) => join(dirname(file), source.replace(/\.js$/, '.d.ts'))

function declarationOf({ file, local }) {
  const { kind, summary } = findDeclaration(readFileSync(file, 'utf8'), local) ?? {}
  const isType = kind === 'interface' || kind === 'type'
  return { at: relative(root, file), summary, isType, call: kind === 'function' ? '()' : '' }
}

if (isMain(import.meta.url)) writeFileSync(page, apiPage())
