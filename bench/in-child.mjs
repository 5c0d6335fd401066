import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const child = fileURLToPath(new URL('./child.mjs', import.meta.url))

/** Runs a task of child.mjs in a fresh process: no heap or compiled code of another measurement disturbs it. */
export function inChild(task, { flags = [], ...options }) {
  const args = ['--expose-gc', ...flags, child, JSON.stringify({ task, ...options })]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }))
}
