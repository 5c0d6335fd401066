// Imports of the library go one way: a layer imports only layers before it. The arithmetic in src/limits has no clocks,
// timers, promises, randomness or Node modules. ARCHITECTURE.md gives the reasons.
import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join, posix, sep } from 'node:path'
import { isMain } from './is-main.mjs'
import { maskSource } from './mask-source.mjs'
import { fail } from './run-command.mjs'
import { root } from './workspaces.mjs'

const layers = [
  'checks',
  'limits',
  'clock',
  'addresses',
  'stores',
  'diagnostics',
  'waiting',
  'reservations',
  'limiter',
  'policy',
  'metrics',
  'shaper',
  'http',
  'testing',
]
const importPattern = /(?<![\w$.])(?:from\s*|import\s*\(?\s*)(['"])( *)\1/g
const impurePattern =
  /(?<![\w$])(?:Date|performance|setTimeout|setInterval|setImmediate|queueMicrotask|Promise|async|await|Math\s*\.\s*random|process|Buffer)(?![\w$])/g

/**
 * Every broken rule in a set of files.
 * @param {Map<string, string>} files text by path relative to src, with forward slashes
 * @returns {{ file: string, line: number, message: string }[]}
 */
export function findBrokenImports(files) {
  const modules = [...files].map(([file, source]) => readModule(file, source, files))
  const broken = modules.flatMap((module) => [
    ...layerProblems(module),
    ...module.imports.flatMap((each) => importProblems(module, each)),
    ...(['checks', 'limits'].includes(module.layer) ? impurities(module) : []),
  ])
  return [...broken, ...cycles(modules)].sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line))
}

function readModule(file, source, files) {
  const code = maskSource(source)
  const imports = [...code.matchAll(importPattern)].map((match) => {
    const end = match.index + match[0].length - 1
    const specifier = source.slice(end - match[2].length, end)
    return { specifier, line: lineAt(source, match.index), target: resolve(file, specifier, files) }
  })
  return { file, code, imports, layer: layerOf(file) }
}

function layerOf(file) {
  return file.split('/')[0].replace(/\.ts$/, '')
}

function resolve(file, specifier, files) {
  if (specifier === 'sluice' || specifier.startsWith('sluice/')) return 'index.ts'
  if (!specifier.startsWith('.')) return undefined
  const path = posix.join(posix.dirname(file), specifier.replace(/\.js$/, '.ts'))
  return files.has(path) ? path : undefined
}

function layerProblems({ file, layer }) {
  if (layers.includes(layer) || file === 'index.ts' || file === 'errors.ts') return []
  return [{ file, line: 1, message: `belongs to no layer; the layers are ${layers.join(', ')}` }]
}

function importProblems({ file, layer }, { specifier, line, target }) {
  const problem = (message) => [{ file, line, message: `imports '${specifier}', but ${message}` }]
  if (builtinModules.includes(specifier)) return problem(`a Node module is written 'node:${specifier}'`)
  if (file === 'errors.ts') return problem('errors.ts imports nothing')
  if (specifier.startsWith('node:') && layer === 'limits') return problem('limits must run without Node')
  if (specifier.startsWith('.') && !target) return problem('src has no such file')
  if (!target || target === 'errors.ts') return []
  if (target === 'index.ts') return problem('no file of src imports the root index')
  const from = layers.indexOf(layer)
  const to = layers.indexOf(layerOf(target))
  if (layers[to] === 'testing' && layer !== 'testing') return problem('only testing imports testing')
  if (from !== -1 && to > from) return problem(`${layer} comes before ${layers[to]}`)
  return []
}

function impurities({ file, code }) {
  return [...code.matchAll(impurePattern)].map((match) => ({
    file,
    line: lineAt(code, match.index),
    message: `mentions ${match[0].replace(/\s/g, '')}, but limits are pure arithmetic`,
  }))
}

function cycles(modules) {
  const byFile = new Map(modules.map((module) => [module.file, module]))
  const found = []
  const done = new Set()
  const visit = (file, path) => {
    done.add(file)
    for (const { target, line } of byFile.get(file)?.imports ?? []) {
      const start = [...path, file].indexOf(target)
      if (target && start !== -1) {
        const round = [...path, file, target].slice(start)
        found.push({ file, line, message: `closes an import cycle: ${round.join(' -> ')}` })
      } else if (target && !done.has(target)) visit(target, [...path, file])
    }
  }
  for (const { file } of modules) if (!done.has(file)) visit(file, [])
  return found
}

function lineAt(text, index) {
  return text.slice(0, index).split('\n').length
}

if (isMain(import.meta.url)) {
  const folder = join(root, 'packages/sluice/src')
  const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.ts'))
  const files = new Map(names.map((name) => [name.split(sep).join('/'), readFileSync(join(folder, name), 'utf8')]))
  const broken = findBrokenImports(files)
  if (broken.length) fail(broken.map((at) => `packages/sluice/src/${at.file}:${at.line} ${at.message}`).join('\n'))
  console.log(`${files.size} files`)
}
