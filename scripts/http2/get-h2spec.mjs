import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fail, run } from '../run-command.mjs'
import { root } from '../workspaces.mjs'

const MODULE = 'github.com/summerwind/h2spec/cmd/h2spec@latest'
const MOST_MS = 300_000
const folder = join(root, 'node_modules/.cache/sluice-h2spec')

/** The command h2spec: the one on the PATH, or one that Go builds once. Undefined without Go. */
export function getH2spec() {
  if (run('h2spec', ['--version']).ok) return 'h2spec'
  const built = join(folder, 'h2spec')
  if (existsSync(built)) return built
  if (!run('go', ['version']).ok) return undefined
  console.log('Getting h2spec ...')
  const { ok, output } = run('go', ['install', MODULE], { env: { ...process.env, GOBIN: folder }, timeout: MOST_MS })
  if (!ok) fail(`${output}\nh2spec could not be built.`)
  return built
}
