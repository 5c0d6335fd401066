// Keeps the sources easy to walk through: a file is named like its main export, no two files share a name, no file or
// function is long, no file is a crumb, and the prose names its actors (a caller, waiter, client, store or limit). Arguments are the starts of
// paths to report on; `--summary` prints one count for each rule and folder.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix, sep } from 'node:path'
import { findFunctions } from './find-functions.mjs'
import { isMain } from './is-main.mjs'
import { maskSource } from './mask-source.mjs'
import { fail } from './run-command.mjs'
import { packageFolders, readManifest, root } from './workspaces.mjs'

const MOST_LINES = 320
const MOST_LINES_OF_A_FUNCTION = 60
const MOST_LINES_OF_A_CRUMB = 20

const sourceFile = /^packages\/[^/]+\/src\/.*\.(?:tsx?|lua)$/
const vagueName = /^(?:utils?|helpers?|misc|common)$/
const exported =
  /\bexport\s+(?:declare\s+)?(?:default\s+)?(?:async\s+)?(?:abstract\s+)?(?:function\s*\*?|class|const|let|type|interface)\s+([\w$]+)/g
const exportList = /\bexport\s+(?:type\s+)?\{([^}]*)\}/g
const hiddenActors = ['whoever', 'whomever', 'whom', 'nobody', 'somebody', 'everybody', 'anybody', 'how-manieth']
/** As a word, or as a part of a name in camel case. */
const words = hiddenActors.flatMap((word) => [`(?<![A-Za-z])${word}`, word[0].toUpperCase() + word.slice(1)])
const hiddenActor = new RegExp(`(?:${words.join('|')})(?![a-z])`, 'g')

/**
 * Every broken rule in a set of files. Rules about names and sizes hold for the sources of packages, the rule about words
 * for every file.
 * @param {Map<string, string>} files text by path from the root, with forward slashes
 * @param {{ entries?: ReadonlySet<string>, generated?: ReadonlySet<string> }} [options] `entries` are the modules that
 * users load: their names and sizes are free, because a path of package.json decides them
 * @returns {{ file: string, line: number, rule: string, message: string }[]}
 */
export function findShapeProblems(files, { entries = new Set(), generated = new Set() } = {}) {
  const written = [...files].filter(([file]) => !generated.has(file))
  const sources = written.filter(([file]) => sourceFile.test(file)).map(([file, text]) => readSource(file, text))
  const isFree = ({ file, name }) => name === 'index.ts' || entries.has(file)
  const bound = sources.filter((source) => !isFree(source))
  const found = [
    ...bound.flatMap(exportProblems),
    ...sameNames(bound),
    ...bound.flatMap(crumbs),
    ...sources.flatMap(longFiles),
    ...sources.flatMap(longFunctions),
    ...sources.flatMap(vagueNames),
    ...written.flatMap(hiddenActorsIn),
  ]
  return found.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line))
}

function readSource(file, text) {
  const name = posix.basename(file)
  return { file, name, stem: name.replace(/\.\w+$/, ''), text, lines: text.trimEnd().split('\n').length }
}

function exportProblems({ file, name, stem, text }) {
  // The catalogue of errors has many exports of equal rank.
  if (name.endsWith('.lua') || name === 'errors.ts') return []
  const names = exportsOf(maskSource(text))
  const wanted = stem.replaceAll('-', '')
  if (names.some((each) => each.toLowerCase() === wanted)) return []
  const some = names.length ? `exports ${names.slice(0, 3).join(', ')}` : 'exports nothing'
  return [problem(file, 1, 'name', `${some}, but no ${stem.replace(/-./g, ([, letter]) => letter.toUpperCase())}`)]
}

function exportsOf(code) {
  const listed = [...code.matchAll(exportList)].flatMap(([, list]) => list.split(',').map((each) => each.trim()))
  const names = listed.filter(Boolean).map((each) => each.split(/\s+/).at(-1))
  return [...[...code.matchAll(exported)].map(([, name]) => name), ...names]
}

function sameNames(sources) {
  const first = new Map()
  return sources.flatMap(({ file, name }) => {
    if (!first.has(name)) first.set(name, file)
    const other = first.get(name)
    return other === file ? [] : [problem(file, 1, 'same-name', `has the name of ${other}`)]
  })
}

function crumbs({ file, lines }) {
  if (lines > MOST_LINES_OF_A_CRUMB) return []
  return [problem(file, 1, 'crumb', `has ${lines} lines; a file has more than ${MOST_LINES_OF_A_CRUMB}`)]
}

function longFiles({ file, lines }) {
  if (lines <= MOST_LINES) return []
  return [problem(file, 1, 'long-file', `has ${lines} lines; a file has at most ${MOST_LINES}`)]
}

function longFunctions({ file, name, text }) {
  const long = findFunctions(text, name.endsWith('.lua') ? 'lua' : 'ts').filter(
    (each) => each.lines > MOST_LINES_OF_A_FUNCTION,
  )
  return long.map((each) => {
    const message = `${each.name} has ${each.lines} lines; a function has at most ${MOST_LINES_OF_A_FUNCTION}`
    return problem(file, each.line, 'long-function', message)
  })
}

function vagueNames({ file, stem }) {
  const parts = [...file.split('/').slice(3, -1), ...stem.split('-')]
  const vague = parts.find((part) => vagueName.test(part))
  return vague ? [problem(file, 1, 'vague-name', `'${vague}' does not say what is inside`)] : []
}

function hiddenActorsIn([file, text]) {
  return text
    .split('\n')
    .flatMap((line, index) =>
      [...line.matchAll(hiddenActor)].map(([word]) =>
        problem(file, index + 1, 'word', `says '${word}': ${line.trim()}`),
      ),
    )
}

function problem(file, line, rule, message) {
  return { file, line, rule, message }
}

/** Counts by rule, then by folder, the largest first. */
export function summaryOf(problems) {
  const counts = new Map()
  for (const { rule, file } of problems) {
    const folders = posix.dirname(file).split('/')
    const folder = folders.slice(0, folders[0] === 'packages' ? 4 : 1).join('/')
    const of = counts.get(rule) ?? counts.set(rule, new Map()).get(rule)
    of.set(folder, (of.get(folder) ?? 0) + 1)
  }
  return [...counts].flatMap(([rule, folders]) => {
    const rows = [...folders].sort((a, b) => b[1] - a[1])
    const total = rows.reduce((sum, [, count]) => sum + count, 0)
    return [[rule, 'total', total], ...rows.map(([folder, count]) => [rule, folder, count])]
  })
}

/** The modules that package.json names in `exports`, those that a command of `bin` loads, and the program of the page. */
function entryModules() {
  const targetsOf = (value) => (typeof value === 'string' ? [value] : Object.values(value ?? {}).flatMap(targetsOf))
  const named = packageFolders().flatMap((folder) => {
    const { exports, bin } = readManifest(folder)
    const loaded = targetsOf(bin).flatMap((file) => {
      const text = readFileSync(join(root, folder, file), 'utf8')
      return [...text.matchAll(/['"]\.\.\/(dist\/[^'"]+)['"]/g)].map(([, path]) => path)
    })
    const built = [...targetsOf(exports), ...loaded].filter((path) => path.endsWith('.js'))
    return built.map((path) => posix.join(folder, path).replace('/dist/', '/src/').replace(/\.js$/, '.ts'))
  })
  return [...named, 'packages/page/src/main.tsx']
}

function readTree() {
  const folders = ['docs', 'scripts', 'bench', 'examples', ...packageFolders()]
  const inside = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => `${folder}/${name.split(sep).join('/')}`),
  )
  const own =
    /(?:^|\/)(?:node_modules|dist)\/|^scripts\/(?:test\/)?check-shape\.|^packages\/(?:[^/]+\.md|[^/]+\/(?:[^/]+\.md|docs\/.*)|sluice\/(?:examples|bench)\/.*)$/
  const names = [...readdirSync(root), ...inside].filter(
    (name) => /\.(?:m?[jt]s|tsx|mts|lua|md|ya?ml)$/.test(name) && !own.test(name) && existsSync(join(root, name)),
  )
  return new Map(names.map((name) => [name, readFileSync(join(root, name), 'utf8')]))
}

if (isMain(import.meta.url)) {
  const args = process.argv.slice(2)
  const starts = args.filter((arg) => !arg.startsWith('--'))
  const files = readTree()
  const generated = new Set(['packages/sluice/src/stores/redis/script.ts'])
  const all = findShapeProblems(files, { entries: new Set(entryModules()), generated })
  const problems = starts.length ? all.filter(({ file }) => starts.some((start) => file.startsWith(start))) : all
  if (args.includes('--summary')) {
    for (const [rule, folder, count] of summaryOf(problems))
      console.log(`${rule.padEnd(14)}${String(count).padStart(5)}  ${folder}`)
  } else if (problems.length) fail(problems.map((at) => `${at.file}:${at.line} ${at.message}`).join('\n'))
  else console.log(`${files.size} files`)
}
