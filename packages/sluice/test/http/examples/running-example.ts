import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'

export const root = fileURLToPath(new URL('../../../../../', import.meta.url))

/** An example that listens, in a process of its own. */
export interface RunningExample {
  readonly origin: string
  /** Ends it as Ctrl-C or an orchestrator would; gives the signal that it went by. */
  stop(): Promise<NodeJS.Signals | null>
}

/** Starts a file of `examples/` as its README says, on a free port, and waits until it says where it listens. */
export async function startExample(file: string): Promise<RunningExample> {
  const isTypeScript = file.endsWith('.ts')
  const child = spawn(process.execPath, isTypeScript ? ['--input-type=module'] : [`examples/${file}`], {
    cwd: root,
    env: { ...process.env, PORT: '0' },
  })
  const exited = once(child, 'exit')
  child.stdin.end(isTypeScript ? await compiled(file) : '')
  try {
    return { origin: await originOf(child, exited), stop: () => stop(child, exited) }
  } catch (error) {
    await stop(child, exited)
    throw error
  }
}

/** What `npx esbuild examples/nest.ts` prints. */
async function compiled(file: string): Promise<string> {
  const [code, tsconfigRaw] = await Promise.all(
    [file, 'tsconfig.json'].map((name) => readFile(`${root}examples/${name}`, 'utf8')),
  )
  return (await transform(code, { loader: 'ts', tsconfigRaw })).code
}

async function originOf({ stdout, stderr }: ChildProcess, exited: Promise<unknown>): Promise<string> {
  let complaints = ''
  stderr?.on('data', (chunk) => {
    complaints += chunk
  })
  const lines = createInterface({ input: stdout as NodeJS.ReadableStream })
  const first = await Promise.race([once(lines, 'line'), exited.then(() => undefined)])
  const [, origin] = /^listening on (http:\/\/127\.0\.0\.1:\d+)$/.exec(String(first?.[0])) ?? []
  if (origin === undefined)
    throw new Error(`it said ${first?.[0] ?? 'nothing'} instead of where it listens\n${complaints}`)
  return origin
}

async function stop(child: ChildProcess, exited: Promise<unknown>): Promise<NodeJS.Signals | null> {
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
  await exited
  return child.signalCode
}
