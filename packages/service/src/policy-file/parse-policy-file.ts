import { InvalidTypeError, type Level, type PolicyData, type PolicyProblem, readPolicy } from 'sluice'
import { buildData } from './build-data.js'
import { findLostTexts } from './lost-texts.js'
import { NodeFinder } from './node-finder.js'
import { PolicyFileError, type PolicyFileProblem } from './policy-file-error.js'
import { printable } from './printable.js'
import { readJson } from './read-json.js'
import { readYaml } from './read-yaml.js'
import type { Fault, SourceNode } from './source-node.js'
import { TextLines } from './text-lines.js'
import { TOO_MANY_BYTES, tooLarge } from './too-large.js'

/** What `parsePolicyFile` may be told. */
export interface ParsePolicyFileOptions {
  /** What the file is called in messages. One that ends in `.json` must be JSON. Default `'policy'`. */
  readonly file?: string
}

/** A policy from a file. */
export interface PolicyFile {
  /** Plain data, for `createPolicy`. Without a `$schema`, which is for editors. */
  readonly policy: PolicyData & { readonly levels: readonly Level[] }
  /** What can be used but is hardly meant: levels that can never deny. */
  readonly warnings: readonly PolicyFileProblem[]
}

const FORM = "a policy file is such as 'version: 1' and 'levels:' with a list"

/**
 * Reads a policy from the text of a YAML or JSON file. If anything is wrong with it, throws one `PolicyFileError` with
 * every problem, its line and its column.
 *
 * @example
 * ```ts
 * import { createPolicy } from 'sluice'
 * import { parsePolicyFile } from 'sluice-service'
 *
 * const text = `
 * version: 1
 * levels:
 *   - name: user
 *     key: [user]
 *     limit: { algorithm: token-bucket, capacity: 20, refill: 5/s }
 * `
 * const policy = createPolicy(parsePolicyFile(text).policy)
 * ```
 */
export function parsePolicyFile(text: string, { file = 'policy' }: ParsePolicyFileOptions = {}): PolicyFile {
  if (typeof text !== 'string') throw new InvalidTypeError(`text must be the text of a file, got ${typeof text}`)
  if (text.length >= TOO_MANY_BYTES) throw tooLarge(file)
  // A byte order mark is no part of the text, and no column.
  const plain = text.startsWith('\ufeff') ? text.slice(1) : text
  const lines = new TextLines(plain)
  const { policy, faults, warnings } = readFaults(plain, file, lines)
  if (policy === undefined || faults.length > 0) throw new PolicyFileError(file, placed(faults, lines))
  return { policy, warnings: placed(warnings, lines) }
}

interface Found {
  readonly policy?: PolicyFile['policy']
  readonly faults: readonly Fault[]
  readonly warnings: readonly Fault[]
}

function readFaults(text: string, file: string, lines: TextLines): Found {
  const { node, faults } = /\.json$/i.test(file) ? readJson(text) : readYaml(text)
  // What was meant by a text that has no form is anybody's guess.
  if (faults.length > 0) return { faults, warnings: [] }
  if (node === undefined) return { faults: [{ offset: 0, message: `the file is empty; ${FORM}` }], warnings: [] }
  if (node.kind !== 'map')
    return { faults: [{ offset: node.offset, message: `${called(node)} is not a policy; ${FORM}` }], warnings: [] }
  const { data, faults: building, targets } = buildData(node, lines)
  if (data === undefined) return { faults: building, warnings: [] }
  return readData(data as Record<string, unknown>, node, new NodeFinder(node, targets), building)
}

function readData(
  data: Record<string, unknown>,
  root: SourceNode,
  finder: NodeFinder,
  building: readonly Fault[],
): Found {
  const { $schema: _, ...policy } = data
  const faultAt = (problem: PolicyProblem): Fault => ({
    offset: finder.offsetOf(problem.path, isAboutKey(problem)),
    message: problem.message.replace(/, got undefined$/, ', but it is missing'),
  })
  const { problems, warnings } = readPolicy(policy)
  const own = [...building, ...findLostTexts(root, finder), ...missingVersion(policy, root)]
  const places = new Set(own.map(({ offset, message }) => (message === NO_VERSION ? -1 : offset)))
  // Of two things said about one place, the first is about how it is written, which comes first.
  const others = problems.map(faultAt).filter(({ offset }) => !places.has(offset))
  return {
    policy: policy as unknown as PolicyFile['policy'],
    faults: [...own, ...others],
    warnings: warnings.map(faultAt),
  }
}

const NO_VERSION = 'the version is missing: write version: 1'

function missingVersion(policy: object, { offset }: SourceNode): readonly Fault[] {
  return Object.hasOwn(policy, 'version') ? [] : [{ offset, message: NO_VERSION }]
}

/** Is it the name that is wrong, and not what it was given? */
function isAboutKey({ path, message }: PolicyProblem): boolean {
  const name = path.at(-1)
  if (typeof name !== 'string') return false
  if (path.at(-2) === 'when' && message.startsWith('an attribute must be')) return true
  return / has no (?:option )?'/.test(message.slice(0, 60)) && message.includes(`'${name.slice(0, 60)}`)
}

function called(node: SourceNode): string {
  return node.kind === 'list' ? 'a list' : 'a single value'
}

function placed(faults: readonly Fault[], lines: TextLines): readonly PolicyFileProblem[] {
  const sorted = [...faults].sort((one, other) => one.offset - other.offset)
  return sorted.map(({ offset, message }) => ({ ...lines.at(offset), message: printable(message) }))
}
