import { open } from 'node:fs/promises'
import { decodeUtf8 } from './decode-utf8.js'
import { type PolicyFile, parsePolicyFile } from './parse-policy-file.js'
import { TOO_MANY_BYTES, tooLarge } from './policy-file-error.js'

/**
 * Reads a policy from a YAML or JSON file. Rejects with one `PolicyFileError` that has every problem, or with the file
 * system's error if the file cannot be read.
 *
 * @example
 * ```ts
 * import { createPolicy } from 'sluice'
 * import { loadPolicyFile } from 'sluice-service'
 *
 * const { policy, warnings } = await loadPolicyFile('policy.yaml')
 * for (const { line, message } of warnings) console.warn(`line ${line}: ${message}`)
 * export const api = createPolicy(policy)
 * ```
 */
export async function loadPolicyFile(path: string): Promise<PolicyFile> {
  return parsePolicyFile(await readPolicyText(path), { file: path })
}

/** The text of a file. Rejects a file that is too large before reading it. */
export async function readPolicyText(path: string): Promise<string> {
  const handle = await open(path)
  try {
    const stats = await handle.stat()
    if (stats.isFile() && stats.size >= TOO_MANY_BYTES) throw tooLarge(path)
    return await readBoundedText(handle.createReadStream({ autoClose: false }), path)
  } finally {
    await handle.close()
  }
}

/** The text of a stream. Stops reading at the largest size of a policy file, because a pipe has no known size. */
export async function readBoundedText(stream: AsyncIterable<Buffer>, file: string): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    if (bytes >= TOO_MANY_BYTES) throw tooLarge(file)
    chunks.push(chunk)
  }
  return decodeUtf8(Buffer.concat(chunks), file)
}
