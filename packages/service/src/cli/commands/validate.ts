import {
  PolicyFileError,
  type PolicyFileProblem,
  printable,
  problemLines,
} from '../../policy-file/policy-file-error.js'
import { type Command, type CommandIo, UsageError } from '../command.js'
import { parseOptions } from '../parse-options.js'
import { fileName, MERGE_DOMAINS, readPolicyFile } from '../read-policy-file.js'
import { countText } from '../text-table.js'

const OPTIONS = {
  'envoy-merge-domains': MERGE_DOMAINS,
  json: { help: 'prints a list of { file, ok, levels, attributes, problems, warnings }' },
} as const

/** The most domains that are named. */
const MOST_DOMAINS = 20

/** The result for one file, as `--json` prints it. */
interface Report {
  readonly file: string
  readonly ok: boolean
  readonly levels?: number
  /** The domains of rules for Envoy. */
  readonly domains?: readonly string[]
  readonly attributes?: readonly string[]
  readonly problems: readonly PolicyFileProblem[]
  readonly warnings: readonly PolicyFileProblem[]
}

export const validate: Command = {
  summary: 'checks policy files and rules for Envoy, and prints every problem with its line',
  usage: 'FILE... [--envoy-merge-domains] [--json]',
  about: `Checks policy files in YAML or JSON; '-' is the standard input. Prints every problem as file:line:column message.
Warns of levels and limits that can never deny, because another level or limit always denies first; of overrides that never
apply, because an earlier one has the same when; of attributes that look like a misspelling of another one; and of sliding
windows whose quota is so small that a client may wait much longer than the window.
A folder is checked as the rules of envoyproxy/ratelimit for serve --envoy-config, and so is a file that has a domain.`,
  options: OPTIONS,
  notes: 'Exit code: 0 if all files can be used, also with warnings; 1 if not; 2 if the command line is wrong.',
  operands: 'files',
  async run(args, io) {
    const { values, positionals } = parseOptions(args, OPTIONS)
    if (positionals.length === 0) throw new UsageError('validate needs a file: sluice validate policy.yaml')
    const reports: Report[] = []
    for (const path of positionals) reports.push(await reportOf(path, io, values['envoy-merge-domains'] === true))
    if (values.json === true) io.stdout.write(`${JSON.stringify(reports, null, 2)}\n`)
    else for (const report of reports) io.stdout.write(`${linesOf(report).join('\n')}\n`)
    return reports.every(({ ok }) => ok) ? 0 : 1
  },
}

async function reportOf(path: string, io: CommandIo, mergeDomains: boolean): Promise<Report> {
  const file = fileName(path)
  try {
    const { policy, attributes, warnings, envoy } = await readPolicyFile(path, io, { mergeDomains })
    return {
      ...{ file, ok: true, levels: policy.levels.length, attributes: [...attributes].sort(), problems: [], warnings },
      ...(envoy !== undefined && { domains: [...envoy.domains.keys()] }),
    }
  } catch (error) {
    if (!(error instanceof PolicyFileError)) throw error
    return { file, ok: false, problems: error.problems, warnings: [] }
  }
}

function linesOf({ file, ok, levels = 0, domains, attributes = [], problems, warnings }: Report): readonly string[] {
  if (!ok) return problemLines(file, problems)
  const asWarnings = warnings.map((each) => ({ ...each, message: `warning: ${each.message}` }))
  if (domains !== undefined) {
    // Each domain has one level for limits that come with requests.
    const rules = countText(levels - domains.length, 'rule')
    const names = domains.slice(0, MOST_DOMAINS).map(printable).join(', ')
    return [
      ...problemLines(file, asWarnings),
      `${file}: ${countText(domains.length, 'domain')} (${names}), ${rules} with limits`,
    ]
  }
  const names = attributes.length === 0 ? '' : ` (${attributes.join(', ')})`
  return [
    ...problemLines(file, asWarnings),
    `${file}: ${countText(levels, 'level')}, ${countText(attributes.length, 'attribute')}${names}`,
  ]
}
