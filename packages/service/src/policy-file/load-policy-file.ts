import { open } from 'node:fs/promises'
import { decodeUtf8 } from './decode-utf8.js'
import { type PolicyFile, parsePolicyFile } from './parse-policy-file.js'
import { TOO_MANY_BYTES, tooLarge } from './too-large.js'

/**
 * Reads a policy from a YAML or JSON file. Throws one `PolicyFileError` with every problem, or what the file system says
 * if there is no such file.
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

/** The text of a file, unless it is too large, which is found out before it is read. */
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

/** The text of a stream, which is read no further than a policy may be long: a pipe does not say how much it has. */
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
