import { countText } from '../cli/text-table.js'
import { reachable } from '../demo/demo-run.js'
import { exampleDescriptor } from '../envoy-rules/example-descriptor.js'
import { printable } from '../policy-file/policy-file-error.js'
import { exampleRequest } from './example-request.js'
import type { ServeOptions } from './serve-options.js'
import type { ServedPolicy } from './served-policy.js'
import type { Serving } from './start-serving.js'
import { isLoopback } from './with-demo.js'

/** The most domains that are named. */
const MOST_DOMAINS = 10

/** The text that a person sees when the service has started. */
export function startSummary({ file, url, grpcUrl, store }: Serving, options: ServeOptions): string {
  const reach = isLoopback(new URL(url).hostname)
    ? `only programs on this machine can reach it; --http 0.0.0.0:${new URL(url).port} changes that`
    : 'programs on other machines can reach it'
  return `${aboutPage(url, options)}Sluice decides at ${url} (${reach})

${aboutPolicy(file, options)}  store    ${store}${aboutStore(store, options)}
  workers  ${aboutWorkers(options)}
  envoy    ${aboutEnvoy(grpcUrl, options)}
  admin    ${aboutAdmin(options)}
  api      ${url}/docs lists all routes

Try it:
  ${exampleCall(file, url)}

`
}

/** A command that asks about a request, or about a descriptor that leads to a limit. */
function exampleCall({ policy, attributes, envoy }: ServedPolicy, url: string): string {
  if (envoy === undefined)
    return `curl ${url}/v1/check -d '${inQuotes({ attributes: exampleRequest(policy.levels, attributes) })}'`
  return `curl ${url}/json -d '${inQuotes(exampleDescriptor(envoy))}'`
}

function aboutPolicy({ policy, attributes, envoy }: ServedPolicy, options: ServeOptions): string {
  if (envoy !== undefined) {
    const domains = [...envoy.domains.keys()].map(printable)
    return `  rules    ${options.envoyConfig}: ${countText(domains.length, 'domain')}, ${domains.slice(0, MOST_DOMAINS).join(', ')}\n`
  }
  const names = policy.levels.map(({ name }) => name)
  const levels = names.length === 1 ? `1 level, ${names[0]}` : `${names.length} levels, ${names.join(', ')}`
  return `  policy   ${options.policy ?? 'an example (--policy FILE serves yours)'}: ${levels}
  asks     about ${attributes.length === 0 ? 'no attribute' : attributes.join(', ')}; other attributes of a request are ignored
`
}

/** The same as data, for `sluice serve --json`. */
export function startFacts({ file, url, grpcUrl, store }: Serving, options: ServeOptions): object {
  return {
    url,
    grpc: grpcUrl ?? null,
    page: options.page ? pageLink(url, options) : null,
    pid: process.pid,
    policy: options.policy ?? null,
    envoyConfig: options.envoyConfig ?? null,
    name: file.policy.name ?? 'default',
    levels: file.policy.levels.map(({ name }) => name),
    attributes: file.attributes,
    store,
    lease: options.lease,
    workers: options.workers,
    admin: options.adminToken !== undefined,
    demo: options.demo === true,
  }
}

/** What a person opens in a browser. It comes first, because most look before they read. */
function aboutPage(url: string, options: ServeOptions): string {
  if (!options.page) return ''
  const traffic =
    'It shows the traffic of a demo. --demo off leaves the demo out, and --policy FILE serves a policy of yours.'
  return `Open ${pageLink(url, options)}\n${options.demo ? `${traffic}\n` : ''}\n`
}

/** The page, with the admin token if that was made up for this run. Browsers do not send the part behind #. */
function pageLink(url: string, { demoToken }: ServeOptions): string {
  return `${reachable(url, '/')}${demoToken === undefined ? '' : `#token=${demoToken}`}`
}

function aboutAdmin({ adminToken, demoToken }: ServeOptions): string {
  if (adminToken === undefined) return 'off (--admin-token TEXT)'
  return demoToken === undefined
    ? 'on, with the token'
    : 'on, with the token of the link, which is made up for this run'
}

function aboutEnvoy(grpcUrl: string | undefined, { grpc }: ServeOptions): string {
  if (grpcUrl === undefined || grpc === undefined) return 'off (--grpc 127.0.0.1:8081)'
  return grpc.clientCa === undefined ? grpcUrl : `${grpcUrl}, for clients with a certificate`
}

function aboutWorkers({ workers, store }: ServeOptions): string {
  if (workers === 1) return '1 process'
  return store === 'memory' ? `${workers} threads of one process, on one table` : `${workers} processes`
}

function aboutStore(store: string, { lease, leaseMs = 250 }: ServeOptions): string {
  if (store === 'memory') return ': counts are lost when the service ends; --store redis://… keeps them'
  return lease ? `, with busy keys on leases of up to ${leaseMs} ms` : ''
}

/** JSON between single quotes of a shell. */
function inQuotes(value: object): string {
  return JSON.stringify(value).replaceAll("'", '\\u0027')
}
