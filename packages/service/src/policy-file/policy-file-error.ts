/** A problem of a policy file, or a warning about it. Line and column count from 1. */
export interface PolicyFileProblem {
  /** The file, if the policy has several. Default: that of the error. */
  readonly file?: string
  readonly line: number
  readonly column: number
  readonly message: string
}

const MOST_PRINTED = 100

/** A policy file that cannot be used, with all of its problems. */
export class PolicyFileError extends Error {
  override readonly name = 'PolicyFileError'
  readonly code = 'SLUICE_INVALID_POLICY_FILE'
  /** The file's name in the message. */
  readonly file: string
  /** All problems, in the order of the file. The message has the first 100. */
  readonly problems: readonly PolicyFileProblem[]

  constructor(file: string, problems: readonly PolicyFileProblem[], options?: ErrorOptions) {
    super(problemLines(file, problems).join('\n'), options)
    this.file = file
    this.problems = problems
  }
}

/** One line for each problem, `policy.yaml:12:9 …`. After 100 of them, one line with the number of the others. */
export function problemLines(file: string, problems: readonly PolicyFileProblem[]): readonly string[] {
  const lines = problems
    .slice(0, MOST_PRINTED)
    .map((each) => `${each.file ?? file}:${each.line}:${each.column} ${each.message}`)
  const more = problems.length - MOST_PRINTED
  return more > 0 ? [...lines, `${file} has ${more.toLocaleString('en')} more problem${more > 1 ? 's' : ''}`] : lines
}

/** A file that cannot be opened or read is a `PolicyFileError` too. Any other error stays as it is. */
export function policyFileErrorOf(file: string, error: unknown): unknown {
  const message = reasonOf(error)
  return message === undefined ? error : new PolicyFileError(file, [{ line: 1, column: 1, message }], { cause: error })
}

function reasonOf(error: unknown): string | undefined {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (syscall === undefined && code !== 'ERR_INVALID_ARG_VALUE') return undefined
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'EISDIR') return 'this is a folder, not a file'
  if (code === 'EACCES' || code === 'EPERM') return 'the file may not be read'
  return `the file cannot be read (${code})`
}

/** A policy file must have fewer bytes than this. */
export const TOO_MANY_BYTES = 10_000_000

export function tooLarge(file: string): PolicyFileError {
  const message =
    'the file is too large: a policy must be smaller than 10 MB; use policy.override to give single keys other limits'
  return new PolicyFileError(file, [{ line: 1, column: 1, message }])
}

/** Text for one line of a terminal or log. Escapes characters that would break the line or control the terminal. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this replaces
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, escaped)
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
