import { PolicyFileError } from '../../policy-file/policy-file-error.js'
import { type Command, UsageError } from '../command.js'
import { parseOptions } from '../parse-options.js'
import { fileName, readPolicyFile } from '../read-policy-file.js'

const OPTIONS = { json: { help: 'prints { file, policy, attributes, levels }' } } as const

export const types: Command = {
  summary: 'prints TypeScript types of the attributes and levels of a policy file',
  usage: 'FILE [--json]',
  about: 'Prints TypeScript types of a policy file: the attributes that it asks about and the names of its levels.',
  options: OPTIONS,
  notes: `  $ sluice types policy.yaml > policy-types.ts

Exit code: 0; 1 if the file cannot be used; 2 if the command line is wrong.`,
  operands: 'files',
  async run(args, io) {
    const { values, positionals } = parseOptions(args, OPTIONS)
    const [path, ...more] = positionals
    if (path === undefined || more.length > 0) throw new UsageError('types needs one file: sluice types policy.yaml')
    try {
      const { policy, attributes } = await readPolicyFile(path, io)
      const levels = policy.levels.map(({ name }) => name)
      const facts = { file: fileName(path), policy: policy.name, attributes: [...attributes].sort(), levels }
      io.stdout.write(values.json === true ? `${JSON.stringify(facts, null, 2)}\n` : typesOf(facts))
      return 0
    } catch (error) {
      if (!(error instanceof PolicyFileError)) throw error
      io.stderr.write(`${error.message}\n`)
      return 1
    }
  },
}

interface Facts {
  readonly file: string
  readonly attributes: readonly string[]
  readonly levels: readonly string[]
}

function typesOf({ file, attributes, levels }: Facts): string {
  const fields = attributes.map(
    (name) => `  readonly ${/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)}: AttributeValue\n`,
  )
  return `// Made by: sluice types ${JSON.stringify(file).slice(1, -1)}
import type { AsyncPolicy, AttributeValue, Policy } from 'sluice'

/** A request: the attributes that the policy asks about. An absent attribute is undefined or null. */
export interface PolicyAttributes {
${fields.join('')}}

export type PolicyAttribute = keyof PolicyAttributes

/** The names of the policy's levels. */
export type PolicyLevel =
${levels.map((name) => `  | ${quoted(name)}`).join('\n')}

/** The policy that createPolicy returns for a store that answers at once. */
export type FilePolicy = Policy<PolicyAttribute, PolicyLevel>

/** The policy that createPolicy returns for a store that answers later, such as Redis. */
export type AsyncFilePolicy = AsyncPolicy<PolicyAttribute, PolicyLevel>
`
}

/** A TypeScript string literal: escapes everything that would end the literal or the line. */
function quoted(text: string): string {
  const inside = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${inside.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}'`
}
