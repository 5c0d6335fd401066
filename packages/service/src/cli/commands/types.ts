import { PolicyFileError } from '../../policy-file/policy-file-error.js'
import { type Command, UsageError } from '../command.js'
import { parseOptions } from '../parse-options.js'
import { fileName, readPolicyFile } from '../read-policy-file.js'

const HELP = `Usage: sluice types FILE

Prints TypeScript types of a policy file: the attributes that it asks about and the names of its levels.

  $ sluice types policy.yaml > policy-types.ts
`

export const types: Command = {
  summary: 'prints TypeScript types of the attributes and levels of a policy file',
  help: HELP,
  async run(args, io) {
    const { positionals } = parseOptions(args, {})
    const [path, ...more] = positionals
    if (path === undefined || more.length > 0) throw new UsageError('types needs one file: sluice types policy.yaml')
    try {
      const { policy, attributes } = await readPolicyFile(path, io)
      const levels = policy.levels.map(({ name }) => name)
      io.stdout.write(typesOf(fileName(path), [...attributes].sort(), levels))
      return 0
    } catch (error) {
      if (!(error instanceof PolicyFileError)) throw error
      io.stderr.write(`${error.message}\n`)
      return 1
    }
  },
}

function typesOf(file: string, attributes: readonly string[], levels: readonly string[]): string {
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
