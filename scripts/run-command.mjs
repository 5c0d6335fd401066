// Child processes: a Node script, a tool from node_modules, or npm itself. There is no shell in between, so paths with
// spaces work. Output is returned, or with `show` goes to the terminal.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './workspaces.mjs'

/** Runs Node with the given arguments. `ok` is true only for exit code 0. */
export function runNode(args, { show = false, cwd = root, timeoutMs } = {}) {
  return run(process.execPath, args, { show, cwd, timeout: timeoutMs })
}

/** Runs the command line tool of an installed package, such as `typescript` or `vitest`. */
export function runTool(packageName, args, options) {
  const folder = join(root, 'node_modules', packageName)
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const [file] = typeof bin === 'string' ? [bin] : Object.values(bin)
  return runNode([join(folder, file), ...args], options)
}

/** Runs the npm that started this process, otherwise the one on the PATH. */
export function runNpm(args) {
  const started = process.env.npm_execpath
  if (started?.endsWith('npm-cli.js')) return runNode([started, ...args])
  return run('npm', args, { cwd: root, shell: process.platform === 'win32' })
}

export function fail(message) {
  console.error(message.trimEnd())
  process.exit(1)
}

function run(command, args, { show = false, ...options }) {
  const stdio = show ? 'inherit' : ['ignore', 'pipe', 'pipe']
  const child = spawnSync(command, args, { ...options, stdio, encoding: 'utf8', maxBuffer: 2 ** 28 })
  const trouble = child.error?.message ?? (child.signal ? `ended by ${child.signal}` : '')
  const output = [child.stdout, child.stderr, trouble].map((text) => text?.trimEnd()).filter(Boolean)
  return { ok: child.status === 0 && !child.error, output: output.join('\n') }
}
