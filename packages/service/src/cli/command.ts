/** A command of `sluice`. */
export interface Command {
  /** One line for the list of commands. */
  readonly summary: string
  /** The text of `sluice help COMMAND`. */
  readonly help: string
  /** Returns the exit code: 0 for success, 1 for a problem in a file or store, 2 for a wrong command line. */
  run(args: readonly string[], io: CommandIo): Promise<number>
}

/** The parts of `process` that a command uses. */
export interface CommandIo {
  readonly stdin: AsyncIterable<Buffer>
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean }
  readonly stderr: { write(text: string): unknown }
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Ends the command with its message and no stack: for a wrong command line (exit code 2) or a failing store (1). */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly exitCode: number

  constructor(message: string, exitCode = 2) {
    super(message)
    this.exitCode = exitCode
  }
}
