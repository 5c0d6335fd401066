import { InvalidTypeError, type Level, type PolicyData, type PolicyProblem, type ReadLevel, readPolicy } from 'sluice'
import { findIdleLevels } from '../idle-levels/find-idle-levels.js'
import { buildData } from './build-data.js'
import { findHiddenOverrides } from './find-hidden-overrides.js'
import { findLongWaits } from './find-long-waits.js'
import { findLostTexts } from './find-lost-texts.js'
import { findMisspeltAttributes } from './find-misspelt-attributes.js'
import { NodeFinder } from './node-finder.js'
import { PolicyFileError, type PolicyFileProblem, printable, TOO_MANY_BYTES, tooLarge } from './policy-file-error.js'
import { readJson } from './read-json.js'
import { readYaml } from './read-yaml.js'
import type { Fault, SourceNode } from './source-node.js'
import { TextLines } from './text-lines.js'

/** The options of `parsePolicyFile`. */
export interface ParsePolicyFileOptions {
  /** The file's name in messages. If it ends in `.json`, the text must be JSON. Default `'policy'`. */
  readonly file?: string
}

/** A policy from a file. */
export interface PolicyFile {
  /** The file's name, as it was given. */
  readonly file: string
  /** The text that the policy was read from. */
  readonly text: string
  /** Plain data for `createPolicy`, without the `$schema`, which is for editors. */
  readonly policy: PolicyData & { readonly levels: readonly Level[] }
  /** The names of all attributes that the levels ask about. */
  readonly attributes: readonly string[]
  /**
   * Levels and limits that can never deny, overrides that never apply, and attributes that look misspelt. The policy can be used, but
   * these are probably mistakes.
   */
  readonly warnings: readonly PolicyFileProblem[]
}

/** Finds further faults in the levels of a policy without problems. */
export type FindFaults = (levels: readonly ReadLevel[]) => readonly PolicyProblem[]

const FORM = "a policy file has 'version: 1', and 'levels:' with a list"

/**
 * Reads a policy from the text of a YAML or JSON file. If it has any problem, throws one `PolicyFileError` that has every
 * problem with its line and column.
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
  return readPolicyFile(text, file, () => [])
}

/** As `parsePolicyFile`. What `findFaults` finds is a problem of the file, too. */
export function readPolicyFile(text: string, file: string, findFaults: FindFaults): PolicyFile {
  if (typeof text !== 'string') throw new InvalidTypeError(`text must be the text of a file, got ${typeof text}`)
  if (text.length >= TOO_MANY_BYTES) throw tooLarge(file)
  // A byte order mark does not count as a column.
  const plain = text.startsWith('\ufeff') ? text.slice(1) : text
  const lines = new TextLines(plain)
  const problemsAt = (faults: readonly Fault[]) => new PolicyFileError(file, positioned(faults, lines))
  const { node, faults } = /\.json$/i.test(file) ? readJson(plain) : readYaml(plain)
  // Without a valid form, the contents can only be guessed.
  if (faults.length > 0) throw problemsAt(faults)
  if (node === undefined) throw problemsAt([{ offset: 0, message: `the file is empty; ${FORM}` }])
  if (node.kind !== 'map') {
    throw problemsAt([{ offset: node.offset, message: `${kindText(node)} is not a policy; ${FORM}` }])
  }
  const { data, faults: building, targets } = buildData(node, lines)
  if (data === undefined) throw problemsAt(building)
  const found = readData(data as Record<string, unknown>, node, new NodeFinder(node, targets), building, findFaults)
  if (found.faults.length > 0) throw problemsAt(found.faults)
  const { policy, attributes } = found
  return { file, text, policy, attributes, warnings: positioned(found.warnings, lines) }
}

interface Found extends Pick<PolicyFile, 'policy' | 'attributes'> {
  readonly faults: readonly Fault[]
  readonly warnings: readonly Fault[]
}

/** Reads the policy, and gives its problems and warnings the offsets of the nodes that they are about. */
function readData(
  data: Record<string, unknown>,
  root: SourceNode,
  finder: NodeFinder,
  building: readonly Fault[],
  findFaults: FindFaults,
): Found {
  const { $schema: _, ...policy } = data
  const faultAt = (problem: PolicyProblem): Fault => ({
    offset: finder.offsetOf(problem.path, isAboutKey(problem)),
    message: problem.message.replace(/, got undefined$/, ', but it is missing'),
  })
  const { levels, attributes, problems } = readPolicy(policy)
  const own = [...building, ...findLostTexts(root, finder), ...missingVersion(policy, root)]
  const offsets = new Set(own.map(({ offset, message }) => (message === NO_VERSION ? -1 : offset)))
  // A value with a fault in how it is written gets no second problem about what it says.
  const further = problems.length > 0 ? problems : findFaults(levels)
  const others = further.map(faultAt).filter(({ offset }) => !offsets.has(offset))
  return {
    policy: policy as unknown as PolicyFile['policy'],
    attributes,
    faults: [...own, ...others],
    warnings: FIND_WARNINGS.flatMap((find) => find(levels)).map(faultAt),
  }
}

const FIND_WARNINGS: readonly FindFaults[] = [
  findIdleLevels,
  findHiddenOverrides,
  findMisspeltAttributes,
  findLongWaits,
]

const NO_VERSION = 'the version is missing: write version: 1'

function missingVersion(policy: object, { offset }: SourceNode): readonly Fault[] {
  return Object.hasOwn(policy, 'version') ? [] : [{ offset, message: NO_VERSION }]
}

/** Is the problem about the name, and not about its value? */
function isAboutKey({ path, message }: PolicyProblem): boolean {
  const name = path.at(-1)
  if (typeof name !== 'string') return false
  if (path.at(-2) === 'when' && message.startsWith('an attribute must be')) return true
  return / has no (?:option )?'/.test(message.slice(0, 60)) && message.includes(`'${name.slice(0, 60)}`)
}

function kindText(node: SourceNode): string {
  return node.kind === 'list' ? 'a list' : 'a single value'
}

function positioned(faults: readonly Fault[], lines: TextLines): readonly PolicyFileProblem[] {
  const sorted = [...faults].sort((one, other) => one.offset - other.offset)
  return sorted.map(({ offset, message }) => ({ ...lines.at(offset), message: printable(message) }))
}
