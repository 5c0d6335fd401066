import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

/** One line of the log. */
export interface LogLine {
  readonly msg: string
  readonly [member: string]: unknown
}

/** `sluice serve` in a process of its own, as a user runs it. */
export class ServeProcess {
  readonly child: ChildProcess
  readonly lines: LogLine[] = []
  stderr = ''
  #rest = ''
  readonly #ended: Promise<number | null>

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const address = args.includes('--http') ? [] : ['--http', '127.0.0.1:0']
    this.child = spawn(process.execPath, [main, 'serve', ...address, ...args], {
      // Requests of the demo would be among those that a test counts.
      env: { ...process.env, FORCE_COLOR: undefined, NODE_OPTIONS: '', SLUICE_DEMO: 'off', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.child.stdout?.on('data', (data: Buffer) => this.#read(String(data)))
    this.child.stderr?.on('data', (data: Buffer) => {
      this.stderr += data
    })
    this.#ended = once(this.child, 'close').then(() => this.child.exitCode)
  }

  /** Starts it and waits until it listens. */
  static async start(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<ServeProcess> {
    const started = new ServeProcess(args, env)
    await started.says('the service listens')
    // The summary comes by another pipe, in one write.
    while (!started.stderr.includes('Sluice decides at')) await once(started.child.stderr as never, 'data')
    return started
  }

  /** The exit code. */
  get ended(): Promise<number | null> {
    return this.#ended
  }

  get url(): string {
    return String(this.lines.find(({ msg }) => msg === 'the service listens')?.url)
  }

  get port(): number {
    return Number(new URL(this.url).port)
  }

  /** Resolves with the first line from the given one on that has this message. Rejects if the process ends before. */
  async says(message: string, from = 0): Promise<LogLine> {
    for (;;) {
      const found = this.lines.slice(from).find(({ msg }) => msg === message)
      if (found !== undefined) return found
      const isOver = await Promise.race([once(this.child.stdout as never, 'line'), this.#ended.then(() => true)])
      if (isOver === true && !this.lines.slice(from).some(({ msg }) => msg === message))
        throw new Error(`the service ended before it said '${message}': ${this.stderr}`)
    }
  }

  /** Ends it by SIGKILL, if it has not ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL')
    await this.#ended
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.lines.push(JSON.parse(line) as LogLine)
    if (lines.length > 0) this.child.stdout?.emit('line')
  }
}
