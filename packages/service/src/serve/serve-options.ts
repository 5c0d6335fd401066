import { nearestName, type OnFailure } from 'sluice'
import { type TrustedHops, trustedProxies } from 'sluice/http'
import { type CommandOption, UsageError } from '../cli/command.js'
import { ENVOY_HEADERS, type EnvoyHeaders } from '../envoy/envoy-headers.js'
import type { RulesOptions } from '../envoy-rules/parse-envoy-rules.js'
import type { FleetFacts } from './fleet-worker.js'
import { type GrpcOptions, HTTP2_SERVERS, readGrpc } from './grpc-options.js'
import { type GivenValues, OptionValues, variableOf } from './option-values.js'

/** The settings of `sluice serve`. */
export interface ServeOptions {
  /** The policy file; the example if absent. */
  readonly policy: string | undefined
  /** A folder with rules of envoyproxy/ratelimit, in place of a policy file. */
  readonly envoyConfig: string | undefined
  /** How its files are read; only with `envoyConfig`. */
  readonly envoyRules: RulesOptions
  readonly store: string
  readonly host: string
  readonly port: number
  /** Absent: the service does not answer over gRPC. */
  readonly grpc: GrpcOptions | undefined
  /** How Envoy tells clients their quota. */
  readonly envoyHeaders: EnvoyHeaders
  readonly adminToken: string | undefined
  readonly trustedProxies: readonly (string | TrustedHops)[]
  /** The header fields that hold attributes for the gate, by attribute. */
  readonly gateAttributes: Readonly<Record<string, string>>
  readonly workers: number
  /** Each worker listens on the port by itself: workers are threads then. */
  readonly reusePort: boolean
  readonly prefix: string | undefined
  readonly onFailure: OnFailure | undefined
  readonly instances: number | undefined
  readonly deadlineMs: number | undefined
  /** Busy keys are decided on leased units. */
  readonly lease: boolean
  /** The longest lease; only with `lease`. */
  readonly leaseMs: number | undefined
  /** The page, and what the service tells it without a token. */
  readonly page: boolean
  /** Made-up traffic for the example policy. Absent: `sluice serve` decides. */
  readonly demo: boolean | undefined
  /** The admin token, if it was made up for this run. */
  readonly demoToken?: string
  readonly log: 'json' | 'text' | 'off' | undefined
  readonly shutdownMs: number
  /** Not of the command line: the first process or thread gives it to one of several workers. */
  readonly fleet?: FleetFacts
}

/** `--on-failure` is `SLUICE_ON_FAILURE` in the environment, and so on. */
const OPTIONS = {
  policy: { value: 'FILE', help: 'the policy, a YAML or JSON file. Default: an example' },
  'envoy-config': {
    value: 'DIR',
    help: 'the rules of envoyproxy/ratelimit, all *.yaml of a folder, in place of a policy',
    others: ['envoy', 'rules', 'runtime-root'],
  },
  'envoy-merge-domains': {
    help: 'lets several files of --envoy-config have rules of one domain. SLUICE_ENVOY_MERGE_DOMAINS is true or false',
    others: ['merge-domain-config'],
  },
  'envoy-shadow': {
    help: 'puts all rules of --envoy-config in shadow mode: they count, and deny nothing. SLUICE_ENVOY_SHADOW is true or false',
    others: ['shadow-mode'],
  },
  store: {
    value: 'STORE',
    help: 'memory (default), redis://host:6379, rediss://…, redis-cluster://host:6379,host:6380',
    others: ['redis'],
  },
  http: {
    value: 'HOST:PORT',
    help: 'where to listen. Default 127.0.0.1:8080; port 0 takes a free one',
    others: ['port', 'host', 'listen'],
  },
  grpc: {
    value: 'HOST:PORT',
    help: 'where to answer Envoy over gRPC: 127.0.0.1:8081. Default: nowhere',
    others: ['rls'],
  },
  'grpc-cert': {
    value: 'FILE',
    help: 'the certificate of the gRPC door, a PEM file; needs --grpc-key. Default: plain TCP',
  },
  'grpc-key': { value: 'FILE', help: 'the key of that certificate, a PEM file' },
  'grpc-client-ca': { value: 'FILE', help: 'answers only clients with a certificate of this authority, a PEM file' },
  http2: {
    value: 'SERVER',
    help: 'what speaks HTTP/2 at --grpc: own (default, several times faster) or node',
    choices: HTTP2_SERVERS,
  },
  'envoy-headers': {
    value: 'FORM',
    help: 'how Envoy tells clients their quota: draft (default), draft-6, legacy or none',
    choices: ENVOY_HEADERS,
  },
  'admin-token': {
    value: 'TEXT',
    help: 'allows the admin API to requests with this token, at least 16 characters. Default: the API is off',
    others: ['token'],
  },
  'trusted-proxies': {
    value: 'RANGES',
    help: 'whose X-Forwarded-* and X-Original-* are believed: 10.0.0.0/8,192.0.2.1, loopback, private, hops=1. Default: none',
  },
  'gate-attributes': {
    value: 'LIST',
    help: 'header fields that hold attributes for /v1/gate: merchant=x-merchant,plan=x-plan',
  },
  workers: {
    value: 'N',
    help: 'workers that serve the same port: processes, or threads with --store memory (Node.js 22.12 or newer). Default 1',
  },
  prefix: { value: 'TEXT', help: 'the start of every key in Redis. Default sluice:' },
  'on-failure': {
    value: 'RULE',
    help: 'how to decide while Redis does not answer: open (default), closed or local',
    choices: ['open', 'closed', 'local'],
  },
  instances: { value: 'N', help: 'among how many processes the rule local divides a limit. Default: the workers' },
  'deadline-ms': { value: 'MS', help: 'the longest that a decision waits for Redis. Default 50' },
  lease: {
    help: 'decides busy keys on units that each process takes from Redis in advance; needs a Redis. SLUICE_LEASE is true or false',
    others: ['leases', 'leased'],
  },
  'lease-ms': { value: 'MS', help: 'the longest lease, from 5 to 250; needs --lease. Default 250' },
  page: {
    value: 'STATE',
    help: 'on (default) or off: the page at /, and what it shows without a token, in which keys are masked',
    choices: ['on', 'off'],
    others: ['ui', 'live', 'dashboard'],
  },
  demo: {
    value: 'STATE',
    help: 'on or off: made-up traffic for the page. Default: on with the example policy and --store memory, otherwise off',
    choices: ['on', 'off'],
    others: ['example', 'traffic'],
  },
  log: {
    value: 'FORM',
    help: 'json, text or off. Default: text on a terminal, otherwise json',
    choices: ['json', 'text', 'off'],
  },
  'shutdown-ms': { value: 'MS', help: 'how long requests in flight may take after SIGTERM. Default 10000' },
} as const satisfies Readonly<Record<string, CommandOption>>

/** The options of the command line. */
export const SERVE_OPTIONS = {
  ...OPTIONS,
  json: { help: 'prints what the service does as JSON on one line, in place of the text; the log goes to stderr' },
}

/**
 * Reads the command line's values, and those of the environment for options that it leaves out. A flag of the command line is
 * `true`, as the text is in the environment. `node` is the version of Node.js that serves.
 */
export function readServeOptions(
  values: GivenValues,
  env: Readonly<Record<string, string | undefined>>,
  node = process.versions.node,
): ServeOptions {
  const given = new OptionValues(values, env)
  const workers = given.whole('workers', 1, 256) ?? 1
  const store = given.text('store') ?? 'memory'
  const reusePort = workers > 1 && store === 'memory'
  if (reusePort && !canReusePort(node))
    throw new UsageError(
      `${given.sourceOf('workers')} with --store memory needs Node.js 22.12 or newer, where worker threads can share a port, and ` +
        `this is ${node}; on this one it needs a Redis, such as --store redis://localhost:6379`,
    )
  const lease = given.oneOf('lease', ['true', 'false']) === 'true'
  if (lease && store === 'memory')
    throw new UsageError(
      `${given.sourceOf('lease')} needs a Redis, such as --store redis://localhost:6379: --store memory decides every key in this ` +
        'process, so it has no calls to save',
    )
  const leaseMs = given.whole('lease-ms', 5, 250)
  if (leaseMs !== undefined && !lease)
    throw new UsageError(
      `${given.sourceOf('lease-ms')} is the longest lease of --lease, which is not given: add --lease`,
    )
  const address = readAddress(given.text('http') ?? '127.0.0.1:8080', given.sourceOf('http'))
  const grpc = readGrpc(given, readAddress)
  if (grpc !== undefined && grpc.port !== 0 && grpc.port === address.port && grpc.host === address.host)
    throw new UsageError(
      `${given.sourceOf('grpc')} needs another port than ${given.sourceOf('http')}, got ${grpc.port} for both`,
    )
  return {
    ...readSource(given),
    store,
    ...address,
    grpc,
    envoyHeaders: given.oneOf('envoy-headers', ENVOY_HEADERS) ?? 'draft',
    adminToken: readToken(given.text('admin-token'), given.sourceOf('admin-token')),
    trustedProxies: readProxies(listOf(given.text('trusted-proxies')), given.sourceOf('trusted-proxies')),
    gateAttributes: readFields(listOf(given.text('gate-attributes')), given.sourceOf('gate-attributes')),
    workers,
    reusePort,
    prefix: given.text('prefix'),
    onFailure: given.oneOf('on-failure', ['open', 'closed', 'local']),
    instances: given.whole('instances', 1, 1_000_000) ?? (workers > 1 ? workers : undefined),
    deadlineMs: given.whole('deadline-ms', 1, 3_600_000),
    lease,
    leaseMs,
    ...readPage(given),
    log: given.oneOf('log', ['json', 'text', 'off']),
    shutdownMs: given.whole('shutdown-ms', 0, 3_600_000) ?? 10_000,
  }
}

function readSource(given: OptionValues): Pick<ServeOptions, 'policy' | 'envoyConfig' | 'envoyRules'> {
  const policy = given.text('policy')
  const envoyConfig = given.text('envoy-config')
  if (policy !== undefined && envoyConfig !== undefined)
    throw new UsageError(
      `${given.sourceOf('envoy-config')} and ${given.sourceOf('policy')} are two policies, and a service has one: leave out one of ` +
        'them, or run two services. A policy file needs no rules for Envoy: entries of descriptors are attributes',
    )
  const isTrue = (name: 'envoy-merge-domains' | 'envoy-shadow') => {
    const value = given.oneOf(name, ['true', 'false']) === 'true'
    if (value && envoyConfig === undefined)
      throw new UsageError(
        `${given.sourceOf(name)} is about rules for Envoy, and there are none: add --envoy-config DIR`,
      )
    return value
  }
  return {
    policy,
    envoyConfig,
    envoyRules: { mergeDomains: isTrue('envoy-merge-domains'), shadow: isTrue('envoy-shadow') },
  }
}

function readPage(given: OptionValues): Pick<ServeOptions, 'page' | 'demo'> {
  const page = given.oneOf('page', ['on', 'off']) !== 'off'
  const demo = given.oneOf('demo', ['on', 'off'])
  const own = (['policy', 'envoy-config'] as const).find((name) => given.text(name) !== undefined)
  if (demo === 'on' && own !== undefined)
    throw new UsageError(
      `${given.sourceOf('demo')} makes up clients of the example policy, and they would use up limits of yours: leave out ` +
        `${given.sourceOf(own)}, or the demo`,
    )
  if (demo === 'on' && !page)
    throw new UsageError(`${given.sourceOf('demo')} is traffic to look at, and ${given.sourceOf('page')} is off`)
  return { page, demo: demo === undefined ? undefined : demo === 'on' }
}

/** Can several threads listen on one port? Since Node.js 22.12 and 23.1. */
function canReusePort(version: string): boolean {
  const [major, minor] = version.split('.').map(Number)
  return major > 23 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12)
}

/** Reads `127.0.0.1:8080`, `[::1]:8080`, `:8080` or `8080`. The last two listen on loopback. */
function readAddress(text: string, source: string): { readonly host: string; readonly port: number } {
  const match = /^(?:(\[[\da-f:.]+\]|[\w.-]*):)?(\d{1,5})$/i.exec(text)
  const port = Number(match?.[2])
  if (match === null || port > 65_535)
    throw new UsageError(`${source} must be an address with a port, such as 127.0.0.1:8080, got '${text.slice(0, 60)}'`)
  const host = (match[1] ?? '').replace(/^\[|\]$/g, '')
  return { host: host === '' ? '127.0.0.1' : host, port }
}

function listOf(text = ''): readonly string[] {
  const parts = text.split(',').map((each) => each.trim())
  return parts.filter((each) => each !== '')
}

/** Reads `10.0.0.0/8`, `loopback`, `private` and `hops=1`. The service listens on no Unix socket, so `unix` is refused. */
function readProxies(list: readonly string[], source: string): ServeOptions['trustedProxies'] {
  const proxies = list.map((each) => {
    const [, hops] = /^hops=(\d{1,2})$/.exec(each) ?? []
    if (hops !== undefined && Number(hops) >= 1 && Number(hops) <= 64) return { hops: Number(hops) }
    if (each === 'loopback' || each === 'private' || (/[\d:]/.test(each) && !each.startsWith('hops'))) return each
    throw new UsageError(
      `${source} must be addresses and CIDR ranges such as 10.0.0.0/8,192.0.2.1, loopback, private, or hops=1 to hops=64, ` +
        `got '${each.slice(0, 60)}'`,
    )
  })
  try {
    trustedProxies(proxies)
  } catch (error) {
    throw new UsageError((error as Error).message.replace('trustedProxies', source))
  }
  return proxies
}

/** Reads `merchant=x-merchant` into the attribute and the header field, which is in lower case. */
function readFields(pairs: readonly string[], source: string): Readonly<Record<string, string>> {
  const fields: Record<string, string> = Object.create(null)
  for (const pair of pairs) {
    const match = /^([^=\s]{1,128})=([\w!#$%&'*+.^`|~-]{1,128})$/.exec(pair)
    if (match === null || match[1] in fields)
      throw new UsageError(
        `${source} must name each attribute once with its header field, such as merchant=x-merchant,plan=x-plan, ` +
          `got '${pair.slice(0, 60)}'`,
      )
    fields[match[1]] = match[2].toLowerCase()
  }
  return fields
}

const SHORTEST_TOKEN = 16

function readToken(token: string | undefined, source: string): string | undefined {
  if (token === undefined || token.length >= SHORTEST_TOKEN) return token
  throw new UsageError(`${source} must have at least ${SHORTEST_TOKEN} characters: openssl rand -hex 16 makes one`)
}

/** Names of variables that are probably misspelt options: `SLUICE_STROE`. `SLUICE_URL` belongs to `sluice check`. */
export function misspeltVariables(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const known = Object.keys(OPTIONS).map(variableOf)
  return Object.keys(env).flatMap((name) => {
    if (!name.startsWith('SLUICE_') || known.includes(name) || name === 'SLUICE_URL') return []
    const meant = nearestName(name, known)
    return meant === undefined ? [] : [`the variable ${name} is not read; did you mean ${meant}?`]
  })
}
