import { basename, relative } from 'node:path'
import { type PolicyProblem, readPolicy } from 'sluice'
import type { FindFaults, PolicyFile } from '../policy-file/parse-policy-file.js'
import {
  PolicyFileError,
  type PolicyFileProblem,
  printable,
  TOO_MANY_BYTES,
  tooLarge,
} from '../policy-file/policy-file-error.js'
import type { Fault } from '../policy-file/source-node.js'
import { TextLines } from '../policy-file/text-lines.js'
import { compileRules, type EnvoyRules } from './compile-rules.js'
import { readRules } from './read-rules.js'
import type { DomainRules } from './rule.js'
import { readRulesText } from './rules-text.js'
import { compositeKey } from './value-test.js'

/** One file of a folder with rules. */
export interface RulesFile {
  /** Its name in messages: the path of the folder, and the file's path in it. */
  readonly file: string
  readonly text: string
}

/** Settings of envoyproxy/ratelimit that change what its files mean. */
export interface RulesOptions {
  /** Several files may have rules of one domain. By default that is an error. */
  readonly mergeDomains?: boolean
  /** All rules are in shadow mode. */
  readonly shadow?: boolean
}

/** Rules for Envoy, and the policy that they are. */
export interface EnvoyPolicyFile extends PolicyFile {
  readonly envoy: EnvoyRules
  /** The texts that the rules were read from. */
  readonly files: readonly RulesFile[]
  readonly rulesOptions: RulesOptions
}

interface ReadFile extends RulesFile {
  readonly rules: DomainRules | undefined
  readonly faults: readonly PolicyFileProblem[]
  readonly warnings: readonly PolicyFileProblem[]
}

/**
 * Reads the rules of envoyproxy/ratelimit from the texts of their files. If any file has a problem, throws one `PolicyFileError`
 * with every problem of all files. `path` is the folder. What `findFaults` finds in the levels is a problem, too.
 */
export function parseEnvoyRules(
  path: string,
  files: readonly RulesFile[],
  rulesOptions: RulesOptions = {},
  findFaults: FindFaults = () => [],
): EnvoyPolicyFile {
  const total = files.reduce((sum, { text }) => sum + text.length, 0)
  if (total >= TOO_MANY_BYTES) throw tooLarge(path)
  if (files.length === 0) throw new PolicyFileError(path, [{ line: 1, column: 1, message: NO_FILES }])
  const read = files.map(readFile)
  const twice = rulesOptions.mergeDomains === true ? duplicateRules(read) : duplicateDomains(read)
  const problems = [...read.flatMap(({ faults }) => faults), ...twice]
  if (problems.length > 0) throw new PolicyFileError(path, problems)
  const envoy = compileRules(mergedDomains(read), rulesOptions.shadow === true)
  if (envoy.levels.length > MOST_LIMITS) throw new PolicyFileError(path, [tooManyLimits(envoy, path)])
  const policy = { version: 1 as const, name: 'envoy', levels: envoy.levels }
  const { levels, attributes, problems: found } = readPolicy(policy)
  const further = found.length > 0 ? found : findFaults(levels)
  if (further.length > 0)
    throw new PolicyFileError(
      path,
      further.map((problem) => problemOf(problem, path)),
    )
  const warnings = read.flatMap((each) => each.warnings)
  return { file: path, text: textOfRules(path, files), policy, attributes, warnings, envoy, files, rulesOptions }
}

/**
 * All rules as one text for people, each file below its name in the folder at `path`. The folders above tell about the machine, so they
 * are left out.
 */
export function textOfRules(path: string, files: readonly RulesFile[]): string {
  return files.map(({ file, text }) => `# ${relative(path, file) || basename(file)}\n${text}`).join(BETWEEN)
}

/** The same problems, with their lines in `textOfRules`. */
export function problemsInText(
  files: readonly RulesFile[],
  problems: readonly PolicyFileProblem[],
): readonly PolicyFileProblem[] {
  const starts = new Map<string, number>()
  let line = 1
  for (const { file, text } of files) {
    starts.set(file, line)
    line += `#\n${text}${BETWEEN}`.split('\n').length - 1
  }
  return problems.map(({ file = '', line: inFile, column, message }) => {
    const start = starts.get(file)
    return start === undefined ? { line: 1, column: 1, message } : { line: start + inFile, column, message }
  })
}

const BETWEEN = '\n---\n'

const NO_FILES = 'there are no rules: the folder has no file whose name ends in .yaml or .yml'

function readFile({ file, text }: RulesFile): ReadFile {
  const plain = text.startsWith('\ufeff') ? text.slice(1) : text
  const lines = new TextLines(plain)
  const positioned = (faults: readonly Fault[]) =>
    [...faults]
      .sort((one, other) => one.offset - other.offset)
      .map(({ offset, message }) => ({ file, ...lines.at(offset), message: printable(message) }))
  const read = readRulesText(plain, lines)
  if (!('finder' in read)) return { file, text, rules: undefined, faults: positioned(read), warnings: [] }
  const { rules, faults, warnings } = readRules(read)
  return { file, text, rules, faults: positioned(faults), warnings: positioned(warnings) }
}

function duplicateDomains(files: readonly ReadFile[]): readonly PolicyFileProblem[] {
  const first = new Map<string, string>()
  return files.flatMap(({ file, rules }) => {
    const domain = rules?.domain ?? ''
    const earlier = first.get(domain)
    if (domain === '' || earlier === undefined) {
      first.set(domain, file)
      return []
    }
    const message = `duplicate domain '${domain.slice(0, 100)}' in config file; it is in ${earlier}, too`
    return [{ file, line: 1, column: 1, message: printable(message) }]
  })
}

/** Rules that two files of one domain have at its first level. */
function duplicateRules(files: readonly ReadFile[]): readonly PolicyFileProblem[] {
  const first = new Map<string, string>()
  return files.flatMap(({ file, rules }) =>
    (rules?.descriptors ?? []).flatMap(({ key, test }) => {
      const composite = `${rules?.domain}.${compositeKey(key, test)}`
      const earlier = first.get(composite)
      first.set(composite, earlier ?? file)
      // `readRules` reports two in one file.
      if (earlier === undefined || earlier === file) return []
      const message = `duplicate descriptor composite key '${composite.slice(0, 300)}'; it is in ${earlier}, too`
      return [{ file, line: 1, column: 1, message: printable(message) }]
    }),
  )
}

/** One list of rules for each domain, in the order of the files. */
function mergedDomains(files: readonly ReadFile[]): readonly DomainRules[] {
  const merged = new Map<string, DomainRules>()
  for (const { rules } of files) {
    if (rules === undefined) continue
    const { domain, descriptors } = rules
    const before = merged.get(domain)?.descriptors ?? []
    merged.set(domain, { domain, descriptors: [...before, ...descriptors] })
  }
  return [...merged.values()]
}

/** A policy has no more levels. */
const MOST_LIMITS = 10_000

/** The words of the policy's reader would tell of levels, which are not in the files. */
function tooManyLimits({ levels, domains }: EnvoyRules, path: string): PolicyFileProblem {
  const shown = (count: number) => count.toLocaleString('en')
  const message = `the rules have ${shown(levels.length - domains.size)} limits in ${shown(domains.size)} domains: together they must be at most ${shown(MOST_LIMITS)}`
  return { file: path, line: 1, column: 1, message }
}

/** A problem of the policy that the rules make, such as a limit that a store cannot keep. */
function problemOf({ message }: PolicyProblem, path: string): PolicyFileProblem {
  return { file: path, line: 1, column: 1, message: printable(message) }
}
