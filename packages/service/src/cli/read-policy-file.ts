import { stat } from 'node:fs/promises'
import type { RulesOptions } from '../envoy-rules/parse-envoy-rules.js'
import { readRulesFolder } from '../envoy-rules/read-rules-folder.js'
import { looksLikeRules } from '../envoy-rules/rules-text.js'
import { readBoundedText, readPolicyText } from '../policy-file/load-policy-file.js'
import { policyFileErrorOf } from '../policy-file/policy-file-error.js'
import { parseServed, type ServedPolicy } from '../serve/served-policy.js'
import type { CommandIo } from './command.js'

const STDIN = 'stdin'

/** The option of commands that read rules as `serve` does with it. */
export const MERGE_DOMAINS = { help: 'lets several files of a folder have rules of one domain' } as const

/** The name of a file in messages; `-` is the standard input. */
export function fileName(path: string): string {
  return path === '-' ? STDIN : path
}

/**
 * Reads a policy file, or the standard input for `-`. A folder has rules for Envoy, and so has a file with a `domain`. A file that
 * cannot be opened is a `PolicyFileError` too.
 */
export async function readPolicyFile(
  path: string,
  io: CommandIo,
  rulesOptions: RulesOptions = {},
): Promise<ServedPolicy> {
  const file = fileName(path)
  try {
    if (path !== '-' && (await stat(path)).isDirectory()) {
      return parseServed({ file, text: '', files: await readRulesFolder(path), rulesOptions })
    }
    const text = path === '-' ? await readBoundedText(io.stdin, STDIN) : await readPolicyText(path)
    return parseServed(looksLikeRules(text) ? { file, text, files: [{ file, text }] } : { file, text })
  } catch (error) {
    throw policyFileErrorOf(file, error)
  }
}
