const ESCAPE = '\u001b['
const ENTER = `${ESCAPE}?1049h${ESCAPE}?25l`
const LEAVE = `${ESCAPE}?25h${ESCAPE}?1049l`
const HOME = `${ESCAPE}H`
const CLEAR_LINE = `${ESCAPE}K`
const CLEAR_BELOW = `${ESCAPE}J`
const CTRL_C = '\u0003'
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * The whole terminal, drawn again and again on its second screen, so that the text above stays. However the process ends,
 * the terminal is as it was.
 */
export class LiveScreen {
  readonly #onKey: (key: string) => void
  readonly #onEnd: () => void
  readonly #draw: () => void
  readonly #leave = () => this.close()
  readonly #signalled = () => this.#onEnd()
  readonly #hear = (data: Buffer) => {
    for (const key of data.toString()) {
      if (key === 'q' || key === CTRL_C) this.#onEnd()
      else this.#onKey(key)
    }
  }
  #isOpen = true

  /** Draws when the terminal changes its size. Calls `onKey` for each key, and `onEnd` for `q`, Ctrl-C and signals. */
  constructor(draw: () => void, onKey: (key: string) => void, onEnd: () => void) {
    this.#draw = draw
    this.#onKey = onKey
    this.#onEnd = onEnd
    process.stdout.write(ENTER)
    process.stdout.on('resize', this.#draw)
    process.once('exit', this.#leave)
    for (const signal of SIGNALS) process.on(signal, this.#signalled)
    if (process.stdin.isTTY !== true) return
    process.stdin.setRawMode(true)
    process.stdin.on('data', this.#hear)
  }

  /** The room for a table. The last line stays free, because writing to its end scrolls some terminals. */
  get rows(): number {
    return Math.max(1, process.stdout.rows - 1)
  }

  get columns(): number {
    return process.stdout.columns
  }

  show(lines: readonly string[]): void {
    if (!this.#isOpen) return
    process.stdout.write(`${HOME}${lines.map((line) => `${line}${CLEAR_LINE}\r\n`).join('')}${CLEAR_BELOW}`)
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    process.stdout.write(LEAVE)
    process.stdout.off('resize', this.#draw)
    process.off('exit', this.#leave)
    for (const signal of SIGNALS) process.off(signal, this.#signalled)
    if (process.stdin.isTTY !== true) return
    process.stdin.off('data', this.#hear)
    process.stdin.setRawMode(false)
    process.stdin.pause()
  }
}
