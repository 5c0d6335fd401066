// Writes the Lua of the Redis store into a TypeScript module, so that the library reads no file at run time. All files
// become one script, without comments and indentation. `--check` changes nothing and fails if the module is out of date.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMain } from './is-main.mjs'
import { fail } from './run-command.mjs'
import { root } from './workspaces.mjs'

const folder = join(root, 'packages/sluice/src/stores/redis')
const module = join(folder, 'script.ts')

/** In the order of their numbers in a request. */
const algorithms = [
  'token-bucket',
  'leaky-bucket',
  'fixed-window',
  'sliding-window',
  'sliding-log',
  'concurrency',
  'unlimited',
]

/** Algorithms that share a file: a function of it, called with an argument. */
const twins = {
  'token-bucket': 'function() return bucket(false) end',
  'leaky-bucket': 'function() return bucket(true) end',
  'sliding-log': 'log',
  concurrency: 'log',
}

/** The shared files, each a function. */
const shared = ['leased-window', 'bucket', 'log']

/** The module's text, given a way to read a Lua file by its name. */
export function moduleText(read) {
  const functions = algorithms.map((name) => twins[name] ?? `function()\n${stripped(read(name))}\nend`)
  const locals = shared.map((name) => `local ${camel(name)} = function(...)\n${stripped(read(name))}\nend`).join('\n')
  const chosen = `${locals}\nlocal ALGORITHMS = {\n${functions}\n}`
  const overrides = stripped(read('overrides'))
  const reservations = stripped(read('reservations'))
  const general = stripped(
    read('general')
      .replace('-- ALGORITHMS', () => chosen)
      .replace('-- OVERRIDES', () => overrides)
      .replace('-- RESERVATIONS', () => reservations),
  )
  const states = stripped(
    read('states')
      .replace('-- LEASED BUCKET', () => stripped(read('leased-bucket')))
      .replace('-- LEASES', () => stripped(read('leases')))
      .replace('-- GENERAL', () => general),
  )
  const fast = stripped(read('fast'))
  const body = stripped(
    read('main')
      .replace('-- FAST', () => fast)
      .replace('-- STATES', () => states),
  )
  return `// Made by scripts/embed-lua.mjs from lua/*.lua. Change those, then run \`node scripts/embed-lua.mjs\`.

/** The algorithms, in the order of their numbers in a request. */
export const ALGORITHM_ORDER = [
${algorithms.map((name) => `  '${name}',\n`).join('')}] as const

/** The script that decides, without the lines that say what time it is. */
export const SCRIPT_BODY = \`${body.replace(/[\\`$]/g, '\\$&')}\`
`
}

/** The name of a file as a variable. */
function camel(name) {
  return name.replace(/-./g, ([, letter]) => letter.toUpperCase())
}

function stripped(lua) {
  const lines = lua.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '' && !line.startsWith('--')).join('\n')
}

if (isMain(import.meta.url)) {
  const wanted = moduleText((name) => readFileSync(join(folder, 'lua', `${name}.lua`), 'utf8'))
  if (!process.argv.includes('--check')) writeFileSync(module, wanted)
  else if (readFileSync(module, 'utf8') !== wanted)
    fail('packages/sluice/src/stores/redis/script.ts is not what the Lua makes; run `node scripts/embed-lua.mjs`')
}
