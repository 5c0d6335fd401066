import { PolicyFileError } from './policy-file-error.js'

/** A file must be smaller than this. */
export const TOO_MANY_BYTES = 10_000_000

export function tooLarge(file: string): PolicyFileError {
  const message =
    'the file is too large: a policy must be smaller than 10 MB; give single keys other limits with policy.override instead'
  return new PolicyFileError(file, [{ line: 1, column: 1, message }])
}
