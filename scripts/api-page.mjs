// Writes docs/api.md: every export of every entry point of both packages, with its declaration, its members and the first
// sentence of each doc comment. It reads the built declarations, because TypeScript 7.0 has no compiler API that a documentation
// generator could use. check-docs.mjs fails if the page is not up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { declarationTexts } from './declaration-members.mjs'
import { findDeclaration, moduleSummary, readExports } from './declarations.mjs'
import { isMain } from './is-main.mjs'
import { membersOf } from './members-of.mjs'
import { runTool } from './run-command.mjs'
import { publishedFolders, readManifest, root } from './workspaces.mjs'

const page = join(root, 'docs/api.md')
const intro = `# API

Every export of every entry point: how it is declared, its options and methods, and the first sentence about each. Your editor shows
the rest, with examples. What several entry points export is described under the first. A list under a type has the options
that its parts have together. \`node scripts/api-page.mjs\` writes this page from the declarations, and \`npm test\` checks it.
`

/** Throws if docs/api.md is not what the declarations say, or if an export has no doc comment. */
export function checkApiPage() {
  if (readFileSync(page, 'utf8') !== apiPage())
    throw new Error('docs/api.md is not what the declarations say: run `node scripts/api-page.mjs` after the build')
}

/** The text of the page. */
function apiPage() {
  const sections = publishedFolders().flatMap(sectionsOf)
  const problems = sections.flatMap(({ entries }) => entries).filter(({ summary }) => !summary)
  if (problems.length)
    throw new Error(problems.map(({ exported, at }) => `${exported} of ${at} has no doc comment`).join('\n'))
  /** The section that describes a declaration, by its file and name, and the declarations that have a heading of a name. */
  const described = new Map()
  const headings = new Map()
  for (const { name, entries } of sections) {
    for (const entry of entries) {
      if (described.has(entry.id)) continue
      described.set(entry.id, name)
      headings.set(entry.exported, [...(headings.get(entry.exported) ?? []), entry.id])
    }
  }
  const isPublic = (file, local) => described.has(idOf(file, local))
  const texts = sections.map(({ name, summary, entries }) => {
    const own = entries.filter(({ id }) => described.get(id) === name)
    const others = entries.filter(({ id }) => described.get(id) !== name)
    const titleOf = ({ exported }) =>
      headings.get(exported).length > 1 ? `\`${exported}\` of \`${name}\`` : `\`${exported}\``
    const also = others.map(({ exported, id }) => `\`${exported}\` of \`${described.get(id)}\``)
    return [
      `## \`${name}\``,
      ...(summary ? [summary] : []),
      ...(also.length > 0 ? [`Also exported here: ${also.join(', ')}.`] : []),
      ...own.map((entry) => description(entry, titleOf(entry), isPublic)),
    ].join('\n\n')
  })
  return formatted(`${intro}\n${texts.join('\n\n')}\n`)
}

function formatted(markdown) {
  const { ok, output } = runTool('@biomejs/biome', ['format', '--stdin-file-path=docs/api.md'], { input: markdown })
  if (!ok) throw new Error(output)
  return `${output}\n`
}

/** The entry points of a package, each with its exports: functions and classes first, then types, by name. */
function sectionsOf(folder) {
  const { name, exports } = readManifest(folder)
  return Object.entries(exports)
    .filter(([, target]) => target.types !== undefined)
    .map(([entry, { types }]) => {
      const file = join(root, folder, types)
      const entries = [...exportsOf(file)].map(([exported, from]) => ({ exported, ...declarationOf(from) }))
      entries.sort((a, b) => a.isType - b.isType || (a.exported < b.exported ? -1 : 1))
      return { name: `${name}${entry.slice(1)}`, summary: moduleSummary(readFileSync(file, 'utf8')), entries }
    })
}

function description({ summary, file, local, exported, kind }, title, isPublic) {
  const { members: all, bases } = membersOf(file, local, isPublic)
  // A class that a function makes, and an error that the library throws, are not constructed by users.
  const members = all.filter(({ name, summary: says }) => name !== 'constructor' || (says && !/made by/.test(summary)))
  const texts = declarationTexts(readFileSync(file, 'utf8'), local)
  const declared = kind === 'interface' || kind === 'class' ? [] : ['```ts no-check', ...texts, '```', '']
  const lines = [
    `### ${title}`,
    '',
    summary,
    '',
    ...declared,
    ...(bases.length > 0 ? [`Has the members of \`${bases.join('`, `')}\` too.`, ''] : []),
    ...members.map((member) => `- \`${member.text}\`${member.summary ? `: ${member.summary}` : ''}`),
  ]
  return lines.join('\n').trimEnd().replaceAll(`function ${local}`, `function ${exported}`)
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
const idOf = (file, local) => `${relative(root, file)}#${local}`

function declarationOf({ file, local }) {
  const { kind, summary } = findDeclaration(readFileSync(file, 'utf8'), local) ?? {}
  const isType = kind === 'interface' || kind === 'type'
  return { file, local, id: idOf(file, local), at: relative(root, file), kind, summary, isType }
}

if (isMain(import.meta.url)) writeFileSync(page, apiPage())
