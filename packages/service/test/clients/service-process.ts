import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

/** `sluice serve` in its own process, as a user runs it. */
export class ServiceProcess {
  readonly url: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, url: string) {
    this.#child = child
    this.url = url
  }

  /** Starts a service, on a free port if none is given, and waits until it listens. */
  static async start(args: readonly string[] = [], port = 0): Promise<ServiceProcess> {
    const env = { ...process.env, FORCE_COLOR: undefined, NODE_OPTIONS: '', SLUICE_DEMO: 'off' }
    const child = spawn(process.execPath, [main, 'serve', '--http', `127.0.0.1:${port}`, '--log', 'json', ...args], {
      env,
    })
    let stdout = ''
    let stderr = ''
    child.stderr.on('data', (data: Buffer) => {
      stderr += data
    })
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout.on('data', (data: Buffer) => {
        stdout += data
        const [, found] = /"url":"([^"]+)"/.exec(stdout) ?? []
        if (found !== undefined) resolve(found)
      })
      child.once('exit', () => reject(new Error(`the service ended: ${stdout}${stderr}`)))
    })
    return new ServiceProcess(child, url)
  }

  get port(): number {
    return Number(new URL(this.url).port)
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  /** Ends it at once, also if it is stopped. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
  }
}
