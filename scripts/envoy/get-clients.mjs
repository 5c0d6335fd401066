// Clients of other stacks for the gRPC door: Python's grpcio and Go's grpcurl, and the original rate-limit service to compare
// with. All go into a cache folder, and each is `undefined` where its language is absent.
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../run-command.mjs'
import { root } from '../workspaces.mjs'

const cache = join(root, 'node_modules/.cache/sluice-envoy')
const protos = join(import.meta.dirname, 'protos')
const PACKAGES = ['grpcio', 'grpcio-tools', 'grpcio-health-checking', 'grpcio-reflection', 'h2']
const MOST_MS = 300_000

/** A Python with grpcio, and the folder with the compiled messages; or a `reason` why there is none. */
export function getPython() {
  const python = ['python3', 'python'].find(
    (name) => run(name, ['-c', 'import sys; assert sys.version_info >= (3, 9)']).ok,
  )
  if (python === undefined) return { reason: 'there is no Python 3.9 or newer' }
  const folder = join(cache, 'python')
  const command = join(folder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python')
  if (!run(command, ['-c', 'import grpc_tools, grpc_health, grpc_reflection, h2']).ok) {
    console.log('Getting grpcio ...')
    const made = run(python, ['-m', 'venv', '--clear', folder], { timeout: MOST_MS })
    if (!made.ok) return { reason: `Python makes no virtual environment: ${made.output}` }
    const got = run(command, ['-m', 'pip', 'install', '--quiet', ...PACKAGES], { timeout: MOST_MS })
    if (!got.ok) return { reason: `pip cannot get ${PACKAGES.join(', ')}: ${got.output}` }
  }
  const messages = join(cache, 'messages')
  mkdirSync(messages, { recursive: true })
  const files = readdirSync(protos, { recursive: true }).filter((name) => name.endsWith('.proto'))
  const out = [`--python_out=${messages}`, `--grpc_python_out=${messages}`]
  const compiled = run(command, ['-m', 'grpc_tools.protoc', `-I${protos}`, ...out, ...files])
  return compiled.ok ? { command, messages } : { reason: `protoc fails: ${compiled.output}` }
}

/** The command of a program in Go, which `go install` makes; or a `reason` why there is none. */
export function getGoProgram(name, source) {
  const folder = join(cache, 'go')
  const command = join(folder, process.platform === 'win32' ? `${name}.exe` : name)
  if (existsSync(command)) return { command }
  if (!run('go', ['version']).ok) return { reason: 'there is no Go' }
  console.log(`Getting ${source} ...`)
  const env = { ...process.env, GOBIN: folder }
  const { ok, output } = run('go', ['install', source], { env, timeout: MOST_MS })
  return ok ? { command } : { reason: `go install ${source} fails: ${output}` }
}
