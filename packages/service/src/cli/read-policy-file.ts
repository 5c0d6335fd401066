import { readBoundedText, readPolicyText } from '../policy-file/load-policy-file.js'
import { type PolicyFile, parsePolicyFile } from '../policy-file/parse-policy-file.js'
import { PolicyFileError } from '../policy-file/policy-file-error.js'
import type { CommandIo } from './command.js'

const STDIN = 'stdin'

/** The name of a file in messages; `-` is the standard input. */
export function fileName(path: string): string {
  return path === '-' ? STDIN : path
}

/** Reads a policy file, or the standard input for `-`. A file that cannot be opened is a `PolicyFileError` too. */
export async function readPolicyFile(path: string, io: CommandIo): Promise<PolicyFile> {
  try {
    const text = path === '-' ? await readBoundedText(io.stdin, STDIN) : await readPolicyText(path)
    return parsePolicyFile(text, { file: fileName(path) })
  } catch (error) {
    const reason = reasonOf(error)
    if (reason === undefined) throw error
    throw new PolicyFileError(fileName(path), [{ line: 1, column: 1, message: reason }], { cause: error })
  }
}

function reasonOf(error: unknown): string | undefined {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (syscall === undefined && code !== 'ERR_INVALID_ARG_VALUE') return undefined
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'EISDIR') return 'this is a folder, not a file'
  if (code === 'EACCES' || code === 'EPERM') return 'the file may not be read'
  return `the file cannot be read (${code})`
}
