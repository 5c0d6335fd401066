import { readBoundedText, readPolicyText } from '../policy-file/load-policy-file.js'
import { type PolicyFile, parsePolicyFile } from '../policy-file/parse-policy-file.js'
import { policyFileErrorOf } from '../policy-file/policy-file-error.js'
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
    throw policyFileErrorOf(fileName(path), error)
  }
}
