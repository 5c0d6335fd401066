// Child processes: a Node script, a tool from node_modules, or npm itself. There is no shell in between, so paths with
// spaces work. Output is returned, or with `show` goes to the terminal.
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './workspaces.mjs'

/** Runs Node with the given arguments, and with `input` on its standard input. `ok` is true only for exit code 0. */
export function runNode(args, { show = false, cwd = root, timeoutMs, input } = {}) {
  return run(process.execPath, args, { show, cwd, timeout: timeoutMs, input })
}

/** Runs the command line tool of an installed package, such as `typescript` or `vitest`. */
export function runTool(packageName, args, options) {
  return runNode(toolArgs(packageName, args), options)
}

/** As {@link runNode}, but other commands can run meanwhile: returns a promise. */
export function runNodeAside(args, { cwd = root } = {}) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    const texts = ['', '']
    for (const [place, stream] of [child.stdout, child.stderr].entries())
      stream.setEncoding('utf8').on('data', (text) => {
        texts[place] += text
      })
    child.once('error', (error) => resolve(outcome(null, [error.message])))
    child.once('close', (code, signal) => resolve(outcome(code, [...texts, signal ? `ended by ${signal}` : ''])))
  })
}

/** As {@link runTool}, but other commands can run meanwhile: returns a promise. */
export function runToolAside(packageName, args, options) {
  return runNodeAside(toolArgs(packageName, args), options)
}

function toolArgs(packageName, args) {
  const folder = join(root, 'node_modules', packageName)
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const [file] = typeof bin === 'string' ? [bin] : Object.values(bin)
  return [join(folder, file), ...args]
}

/** Runs the npm that started this process, otherwise the one on the PATH. */
export function runNpm(args, { cwd = root } = {}) {
  const started = process.env.npm_execpath
  if (started?.endsWith('npm-cli.js')) return runNode([started, ...args], { cwd })
  return run('npm', args, { cwd, shell: process.platform === 'win32' })
}

export function fail(message) {
  console.error(message.trimEnd())
  process.exit(1)
}

/** Runs a program of the PATH. */
export function run(command, args, { show = false, ...options } = {}) {
  const stdio = show ? 'inherit' : [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe']
  const child = spawnSync(command, args, { ...options, stdio, encoding: 'utf8', maxBuffer: 2 ** 28 })
  const trouble = child.error?.message ?? (child.signal ? `ended by ${child.signal}` : '')
  return outcome(child.error ? null : child.status, [child.stdout, child.stderr, trouble])
}

function outcome(code, texts) {
  const output = texts.map((text) => text?.trimEnd()).filter(Boolean)
  return { ok: code === 0, output: output.join('\n') }
}
