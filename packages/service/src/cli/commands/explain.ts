import { type AsyncPolicy, createPolicy, InvalidTypeError, InvalidValueError, type Policy } from 'sluice'
import type { EnvoyPolicyFile } from '../../envoy-rules/parse-envoy-rules.js'
import { PolicyFileError } from '../../policy-file/policy-file-error.js'
import type { ServedPolicy } from '../../serve/served-policy.js'
import { unusedAttributes } from '../../serve/unused-attributes.js'
import { type Command, JSON_OPTION, UsageError } from '../command.js'
import { degradedOf, type ExplainReport, predictVerdict } from '../explain-report.js'
import { chosenDomain, explainRules, type RulesReport, readDescriptors } from '../explain-rules.js'
import { explanationText } from '../explanation-text.js'
import { parseOptions } from '../parse-options.js'
import { MERGE_DOMAINS, readPolicyFile } from '../read-policy-file.js'
import { readCost, readRequest, withAttributes } from '../read-request.js'
import { rulesReportText } from '../rules-report-text.js'

const OPTIONS = {
  request: {
    value: 'JSON',
    help: `the request's attributes, beside those of the command line: '{"ip":"192.0.2.7"}'`,
  },
  cost: { value: 'N', help: 'the cost of the request, a whole number from 0. Default 1' },
  domain: { value: 'NAME', help: 'the domain of rules for Envoy. Default: the only one' },
  'envoy-merge-domains': MERGE_DOMAINS,
  store: {
    value: 'URL',
    help: 'the Redis to ask, redis://host:6379 or rediss://…. Default: a fresh store, from which nothing is taken',
  },
  name: { value: 'TEXT', help: "the policy's name in Redis, if the file has none or your code uses another" },
  prefix: { value: 'TEXT', help: 'the prefix of all keys in Redis. Default sluice:' },
  json: JSON_OPTION,
} as const

export const explain: Command = {
  summary: 'shows which levels match a request, their keys and what is left',
  usage:
    'FILE [NAME=VALUE...] [--request JSON] [--cost N] [--store URL] [--name TEXT] [--prefix TEXT] [--domain NAME] [--json]',
  about: `Shows how a policy applies to a request: which levels match, their keys, the limits in force and what is left, and
why the other levels do not match. Takes nothing.`,
  options: OPTIONS,
  notes: `  $ sluice explain policy.yaml method=POST path=/v1/charges merchant=acct_1

Of rules for Envoy, a folder or a file with a domain, it shows which rule each descriptor leads to. A comma begins the next
descriptor, and --cost is hits_addend:

  $ sluice explain ratelimit/ --domain messaging message_type=marketing to_number=206 , to_number=206

Exit code: 0, also if the request would be denied; 1 if the file cannot be used or Redis does not answer; 2 if the
command line is wrong.`,
  operands: 'files',
  async run(args, io) {
    const { values, positionals } = parseOptions(args, OPTIONS)
    const [path, ...words] = positionals
    if (path === undefined)
      throw new UsageError(
        'explain needs a file and attributes: sluice explain policy.yaml method=POST path=/v1/charges',
      )
    if (values.request === undefined && words.length === 0)
      throw new UsageError('explain needs attributes, such as method=POST path=/v1/charges, or --request JSON')
    const cost = readCost(values.cost)
    for (const option of ['prefix', 'name'] as const)
      if (values[option] !== undefined && values.store === undefined) throw new UsageError(`--${option} needs --store`)
    try {
      const file = await readPolicyFile(path, io, { mergeDomains: values['envoy-merge-domains'] === true })
      if (isRules(file)) {
        const report = await rulesReportOf(file, words, cost, values)
        io.stdout.write(values.json === true ? `${JSON.stringify(report, null, 2)}\n` : rulesReportText(report))
        return 0
      }
      if (values.domain !== undefined)
        throw new UsageError('--domain is for rules for Envoy, and this is a policy file')
      const request = withAttributes(values.request === undefined ? {} : readRequest(values.request), words)
      const report = await reportOf(file, request, cost, values)
      const colours = io.stdout.isTTY === true && !io.env.NO_COLOR
      io.stdout.write(values.json === true ? `${JSON.stringify(report, null, 2)}\n` : explanationText(report, colours))
      return 0
    } catch (error) {
      if (error instanceof PolicyFileError) {
        io.stderr.write(`${error.message}\n`)
        return 1
      }
      // A wrong attribute in --request. Only the policy can tell.
      if (error instanceof InvalidTypeError || error instanceof InvalidValueError) throw new UsageError(error.message)
      throw error
    }
  },
}

interface Values {
  readonly store?: string
  readonly name?: string
  readonly prefix?: string
  readonly domain?: string
  readonly request?: string
}

function isRules(file: ServedPolicy): file is EnvoyPolicyFile {
  return file.envoy !== undefined
}

async function rulesReportOf(
  file: EnvoyPolicyFile,
  words: readonly string[],
  hits: number,
  { store, name, prefix, domain, request }: Values,
): Promise<RulesReport> {
  if (request !== undefined || name !== undefined)
    throw new UsageError(
      `rules for Envoy take no --${request === undefined ? 'name' : 'request'}: descriptors are written key=value`,
    )
  const asked = { domain: chosenDomain(file, domain), descriptors: readDescriptors(words), hits }
  if (store === undefined) return explainRules(file, asked)
  const { withRedisStore } = await import('../with-redis-store.js')
  return withRedisStore(store, prefix, {
    run: (redis, shown) => explainRules(file, asked, { store: redis, shown }),
    degradedOf: ({ degraded }) => degraded,
  })
}

async function reportOf(
  { file, policy: data }: ServedPolicy,
  request: Record<string, unknown>,
  cost: number,
  { store, name: givenName, prefix }: Values,
): Promise<ExplainReport> {
  const name = givenName ?? data.name ?? 'default'
  if (store !== undefined && givenName === undefined && data.name === undefined)
    throw new UsageError('the file has no name; pass --name with the name that your code gives to createPolicy')
  const explained = async (policy: Policy | AsyncPolicy) => ({
    file,
    policy: name,
    cost,
    ...predictVerdict(await policy.explain(request, { cost })),
    unused: unusedAttributes(request, policy.attributes),
  })
  if (store === undefined) return { ...(await explained(createPolicy(data))), store: 'memory' }
  const { withRedisStore } = await import('../with-redis-store.js')
  return withRedisStore(store, prefix, {
    run: async (redis, shown) => ({
      ...(await explained(createPolicy({ ...data, name, store: redis }))),
      store: shown,
    }),
    degradedOf,
  })
}
