/** One thing that is wrong with a policy file, or odd about it, and where: line and column count from 1. */
export interface PolicyFileProblem {
  readonly line: number
  readonly column: number
  readonly message: string
}

const MOST_PRINTED = 100

/** A policy file that cannot be used, with everything that is wrong with it. Nothing of it was taken over. */
export class PolicyFileError extends Error {
  override readonly name = 'PolicyFileError'
  readonly code = 'SLUICE_INVALID_POLICY_FILE'
  /** What the file is called in the message. */
  readonly file: string
  /** All of them, in the order of the file. The message has the first hundred. */
  readonly problems: readonly PolicyFileProblem[]

  constructor(file: string, problems: readonly PolicyFileProblem[], options?: ErrorOptions) {
    super(problemLines(file, problems).join('\n'), options)
    this.file = file
    this.problems = problems
  }
}

/** `policy.yaml:12:9 unknown …`, a line for each problem; of very many, the first and how many more there are. */
export function problemLines(file: string, problems: readonly PolicyFileProblem[]): readonly string[] {
  const lines = problems
    .slice(0, MOST_PRINTED)
    .map(({ line, column, message }) => `${file}:${line}:${column} ${message}`)
  const more = problems.length - MOST_PRINTED
  return more > 0 ? [...lines, `${file} has ${more.toLocaleString('en')} more problem${more > 1 ? 's' : ''}`] : lines
}
