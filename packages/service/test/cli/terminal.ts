import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'

/** Is there the program that gives a command a terminal? It comes with util-linux; that of other systems differs. */
export const hasTerminal = spawnSync('script', ['--version']).stdout?.toString().includes('util-linux') === true

/** A command on a terminal of its own, as a person runs it. */
export class Terminal {
  output = ''
  readonly #child: ChildProcess
  readonly #ended: Promise<number | null>

  /** Runs a line of shell. */
  constructor(command: string, env: Readonly<Record<string, string>> = {}) {
    const line = `stty cols 100 rows 30; echo "pid=$$ tty=$(tty)"; exec ${command}`
    this.#child = spawn('script', ['-qefc', line, '/dev/null'], {
      env: { ...process.env, TERM: 'xterm', FORCE_COLOR: undefined, NODE_OPTIONS: '', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.#child.stdout?.on('data', (data: Buffer) => {
      this.output += data
    })
    this.#ended = once(this.#child, 'close').then(() => this.#child.exitCode)
  }

  /** The exit code of the command. */
  get ended(): Promise<number | null> {
    return this.#ended
  }

  get pid(): number {
    return Number(/pid=(\d+)/.exec(this.output)?.[1])
  }

  type(keys: string): void {
    this.#child.stdin?.write(keys)
  }

  resize(columns: number, rows: number): void {
    const tty = /tty=(\S+)/.exec(this.output)?.[1] as string
    // `stty` changes one after the other, and the command draws after each: what is as narrow as this is as low, too.
    execFileSync('stty', ['-F', tty, 'rows', `${rows}`, 'cols', `${columns}`])
  }

  /** Resolves when the output from the given place on has a match. */
  async shows(pattern: RegExp, from = 0): Promise<void> {
    while (!pattern.test(this.output.slice(from))) {
      const [more] = await Promise.race([once(this.#child.stdout as never, 'data'), this.#ended.then(() => [null])])
      if (more === null && !pattern.test(this.output.slice(from)))
        throw new Error(`the command ended before it showed ${pattern}: ${JSON.stringify(this.output.slice(from))}`)
    }
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}
