import type { Io } from './io.js'

/** How a command is used, and what it does. */
export interface Command {
  readonly summary: string
  readonly help: string
  /** Gives the exit code: 0 is well, 1 is a problem in a file or store, 2 is a wrong command line. */
  run(args: readonly string[], io: Io): Promise<number>
}
