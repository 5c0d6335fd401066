import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

export const EXAMPLE = fileURLToPath(new URL('../../examples/stripe.yaml', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command in its own process, as a user does. */
export function sluice(args: readonly string[], { stdin = '', closeStdout = false } = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, FORCE_COLOR: undefined, NODE_OPTIONS: '' }
    const child = spawn(process.execPath, [main, ...args], { env })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (data: Buffer) => {
      stdout += data
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
