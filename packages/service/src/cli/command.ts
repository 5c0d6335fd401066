/** An option of a command. The help, the reader of the command line and the shell completion are made from it. */
export interface CommandOption {
  /** What stands for the value in the help, such as `FILE`. Absent: the option is a flag and takes no value. */
  readonly value?: string
  /** One line for the help. */
  readonly help: string
  /** Other names that people try for it. They do not work; the error for them names this option. */
  readonly others?: readonly string[]
  /** The values to complete to. `FILE` completes to files without it. */
  readonly choices?: readonly string[]
}

/** A command of `sluice`. */
export interface Command {
  /** One line for the list of commands. */
  readonly summary: string
  /** What follows the name in the first line of the help: `FILE... [--json]`. */
  readonly usage: string
  /** What the command does: the first paragraph of the help. */
  readonly about: string
  readonly options: Readonly<Record<string, CommandOption>>
  /** The last paragraphs of the help: examples and exit codes. */
  readonly notes: string
  /** What the arguments complete to: files, or these words. */
  readonly operands?: 'files' | readonly string[]
  /**
   * Returns the exit code: 0 for success, 1 for a problem in a file, store or service, 2 for a wrong command line. A
   * command may have further codes; its help lists them.
   */
  run(args: readonly string[], io: CommandIo): Promise<number>
}

/** The option that every command has. */
export const JSON_OPTION: CommandOption = { help: 'prints the same as JSON' }

/** The parts of `process` that a command uses. */
export interface CommandIo {
  readonly stdin: AsyncIterable<Buffer>
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean }
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean }
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
