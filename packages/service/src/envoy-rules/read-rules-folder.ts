import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readPolicyText } from '../policy-file/load-policy-file.js'
import { PolicyFileError, policyFileErrorOf, TOO_MANY_BYTES, tooLarge } from '../policy-file/policy-file-error.js'
import type { RulesFile } from './parse-envoy-rules.js'

const MOST_FILES = 1_000
const DEEPEST_FOLDER = 8
/** Kubernetes may swap the files while they are read, so that some are old and some new: then all are read again. */
const MOST_READINGS = 5

/**
 * Reads the files of a folder with rules: all `*.yaml` and `*.yml` in it and in its folders, in the order of their names. Names
 * that begin with a dot are left out: Kubernetes keeps the versions of a ConfigMap in such folders. `path` may be one file, too.
 * Rejects with a `PolicyFileError` if something cannot be read.
 */
export async function readRulesFolder(path: string): Promise<readonly RulesFile[]> {
  try {
    for (let readings = 1; ; readings++) {
      const before = await stampRules(path)
      const files = await readAll(path)
      if (readings === MOST_READINGS || before === (await stampRules(path))) return files
    }
  } catch (error) {
    throw policyFileErrorOf(path, error)
  }
}

/** A text that differs if any file of the folder does. Empty if there is no such folder. */
export async function stampRules(path: string): Promise<string> {
  try {
    const files = await rulesFiles(path)
    const stamps = await Promise.all(files.map(async (file) => `${file} ${await stampOf(file)}`))
    return stamps.join('\n')
  } catch {
    return ''
  }
}

async function readAll(path: string): Promise<readonly RulesFile[]> {
  const read: RulesFile[] = []
  let length = 0
  for (const file of await rulesFiles(path)) {
    const text = await textOf(file)
    length += text.length
    if (length >= TOO_MANY_BYTES) throw tooLarge(path)
    read.push({ file, text })
  }
  return read
}

async function textOf(file: string): Promise<string> {
  try {
    return await readPolicyText(file)
  } catch (error) {
    throw policyFileErrorOf(file, error)
  }
}

async function rulesFiles(path: string): Promise<readonly string[]> {
  const found: string[] = []
  const entered = new Set<string>()
  if ((await stat(path)).isDirectory()) await enter(path, 1)
  else found.push(path)
  return found

  async function enter(folder: string, depth: number): Promise<void> {
    // A link may lead back to a folder above.
    const { dev, ino } = await stat(folder)
    if (entered.has(`${dev} ${ino}`)) return
    entered.add(`${dev} ${ino}`)
    if (depth > DEEPEST_FOLDER) throw tooMany(path, `folders are nested more than ${DEEPEST_FOLDER} deep`)
    const names = (await readdir(folder)).filter((name) => !name.startsWith('.')).sort()
    for (const name of names) {
      const inside = join(folder, name)
      // Follows links: the files of a ConfigMap are links.
      const stats = await stat(inside)
      if (stats.isDirectory()) await enter(inside, depth + 1)
      else if (stats.isFile() && /\.ya?ml$/i.test(name)) found.push(inside)
      if (found.length > MOST_FILES) throw tooMany(path, `there are more than ${MOST_FILES.toLocaleString('en')} files`)
    }
  }
}

function tooMany(path: string, message: string): PolicyFileError {
  return new PolicyFileError(path, [{ line: 1, column: 1, message }])
}

async function stampOf(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
  return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`
}
