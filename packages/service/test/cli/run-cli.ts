import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { run } from '../../dist/cli/run.js'

export const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

export const EXAMPLE = fileURLToPath(new URL('../../examples/stripe.yaml', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface SluiceOptions {
  readonly stdin?: string
  readonly closeStdout?: boolean
  readonly env?: Readonly<Record<string, string>>
  /** Called when there is output. */
  readonly onStdout?: () => void
}

/** Runs the command in its own process, as a user does. */
export function sluice(args: readonly string[], options: SluiceOptions = {}): Promise<Ended> {
  const { stdin = '', closeStdout = false, env = {}, onStdout } = options
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [main, ...args], {
      env: { ...process.env, FORCE_COLOR: undefined, NODE_OPTIONS: '', ...env },
    })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (data: Buffer) => {
      stdout += data
      onStdout?.()
    })
    child.stderr.on('data', (data: Buffer) => {
      stderr += data
    })
    if (closeStdout) child.stdout.destroy()
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stdout, stderr }))
    // A command that reads no input may end before the input is written.
    child.stdin.on('error', () => {})
    child.stdin.end(stdin)
  })
}

/** Runs the command in this process, which takes a few milliseconds: for cases in which the process does not matter. */
export async function sluiceHere(
  args: readonly string[],
  { stdin = '', env = {} }: Pick<SluiceOptions, 'stdin' | 'env'> = {},
): Promise<Ended> {
  const written = { stdout: '', stderr: '' }
  const into = (name: keyof typeof written) => ({
    write(text: string) {
      written[name] += text
    },
  })
  const input = (async function* () {
    yield Buffer.from(stdin)
  })()
  const io = { stdin: input, stdout: into('stdout'), stderr: into('stderr'), env: { ...process.env, ...env } }
  const code = await run(args, io)
  return { code, ...written }
}
