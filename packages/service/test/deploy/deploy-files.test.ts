import { execFile, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { validate } from 'dockerfile-utils'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { parsePolicyFile } from '../../dist/index.js'
import { SERVE_OPTIONS } from '../../dist/serve/serve-options.js'
import { ask, startGate } from '../doors/gate-service.js'

const PACKAGE = new URL('../../', import.meta.url)
const DEPLOY = new URL('deploy/', PACKAGE)
const EXAMPLES = ['proxies/nginx/sluice.conf', 'proxies/caddy/Caddyfile', 'proxies/haproxy/haproxy.cfg']
const LEVELS = '\n  - { name: all, limit: { algorithm: token-bucket, capacity: 1, refill: 1/s } }'

function read(file: string): string {
  return readFileSync(new URL(file, DEPLOY), 'utf8')
}

/** The documents of a YAML file. A warning, such as an unknown tag, counts as an error. */
function readYaml(file: string): Record<string, unknown>[] {
  const documents = parseAllDocuments(read(file))
  if (!Array.isArray(documents)) throw new Error(`${file} is empty`)
  expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([])
  return documents.map((document) => document.toJS())
}

describe('every file', () => {
  const files = [...readdirSync(DEPLOY).map((name) => `deploy/${name}`), ...EXAMPLES.map((name) => `examples/${name}`)]

  test.each(files)('%s names only options that the service has', (file) => {
    const text = readFileSync(new URL(file, PACKAGE), 'utf8')
    const variables = [...text.matchAll(/\bSLUICE_([A-Z_]+)\b/g)].map(([, name]) =>
      name.toLowerCase().replaceAll('_', '-'),
    )
    const serve = /sluice serve (.*)$/gm
    const given = [...text.matchAll(serve)].flatMap(([, line]) => [...line.matchAll(/--([a-z-]+)/g)])
    for (const name of [...variables, ...given.map(([, option]) => option)])
      expect(Object.keys(SERVE_OPTIONS)).toContain(name)
  })
})

describe('the Dockerfile', () => {
  const instructions = read('Dockerfile')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
  const argumentsOf = (keyword: string) =>
    instructions.filter((line) => line.startsWith(`${keyword} `)).map((line) => line.slice(keyword.length + 1))

  test('has no mistake that a linter knows', () => {
    expect(validate(read('Dockerfile'))).toEqual([])
  })

  test('runs the command of the package on Node.js 24, not as root', () => {
    expect(argumentsOf('FROM').every((image) => image.startsWith('node:24-'))).toBe(true)
    expect(argumentsOf('USER')).toEqual(['node'])
    const { name, bin } = JSON.parse(readFileSync(new URL('package.json', PACKAGE), 'utf8'))
    expect(argumentsOf('ENTRYPOINT')).toEqual([`["/service/node_modules/.bin/${Object.keys(bin)[0]}"]`])
    expect(argumentsOf('RUN')[0]).toContain(`--workspace=${name}`)
  })

  test('has a health check that knows a service that serves from one that does not', async () => {
    const [, command = '[]'] = /CMD (.*)$/.exec(argumentsOf('HEALTHCHECK')[0]) ?? []
    const [, , script] = JSON.parse(command)
    const service = await startGate(LEVELS)
    const exitCode = () =>
      new Promise((resolve) => {
        const child = execFile(process.execPath, ['-e', script.replace(':8080/', `:${service.port}/`)], () =>
          resolve(child.exitCode),
        )
      })
    expect(await exitCode()).toBe(0)
    await service.close()
    expect(await exitCode()).toBe(1)
  })
})

test('the compose file builds the Dockerfile, mounts a policy that is there and publishes on loopback', () => {
  const [{ services }] = readYaml('compose.yaml') as [{ services: Record<string, Record<string, unknown>> }]
  const { build, volumes, ports, environment } = services.sluice as Record<string, Record<string, string>>
  const context = new URL(`${build.context}/`, DEPLOY)
  expect(existsSync(new URL(build.dockerfile, context))).toBe(true)
  const [policy, mounted] = volumes[0].split(':')
  expect(existsSync(new URL(policy, DEPLOY))).toBe(true)
  expect(environment.SLUICE_POLICY).toBe(mounted)
  expect(ports).toEqual(['127.0.0.1:8080:8080'])
  expect(environment.SLUICE_STORE).toBe('redis://redis:6379')
  expect(Object.keys(services)).toEqual(['sluice', 'redis'])
})

describe('the Kubernetes manifest', () => {
  interface Container {
    readonly env: readonly { name: string; value?: string }[]
    readonly ports: readonly { name: string; containerPort: number }[]
    readonly livenessProbe: { httpGet: { path: string; port: string } }
    readonly readinessProbe: { httpGet: { path: string; port: string } }
    readonly volumeMounts: readonly { name: string; mountPath: string }[]
  }
  const documents = readYaml('kubernetes.yaml')
  const ofKind = (kind: string) => documents.find((each) => each.kind === kind) as Record<string, never>
  const pod = (ofKind('Deployment').spec as { template: { spec: Record<string, never> } }).template.spec
  const [container] = (pod as unknown as { containers: [Container] }).containers

  test('has a policy that can be loaded, mounted where the service looks for it', () => {
    const data = ofKind('ConfigMap').data as Record<string, string>
    const [[file, text]] = Object.entries(data)
    expect(parsePolicyFile(text, { file }).warnings).toEqual([])
    const path = container.env.find(({ name }) => name === 'SLUICE_POLICY')?.value
    expect(path).toBe(`${container.volumeMounts[0].mountPath}/${file}`)
  })

  test('asks the service for its health at paths that it answers, on the port where it listens', async () => {
    const address = container.env.find(({ name }) => name === 'SLUICE_HTTP')?.value
    expect(address).toBe(`0.0.0.0:${container.ports[0].containerPort}`)
    const service = await startGate(LEVELS)
    try {
      for (const { httpGet } of [container.livenessProbe, container.readinessProbe]) {
        expect(httpGet.port).toBe(container.ports[0].name)
        expect((await ask(service.port, httpGet.path)).status).toBe(200)
      }
    } finally {
      await service.close()
    }
  })

  test('selects the pods by the labels that they have', () => {
    const { selector, template } = ofKind('Deployment').spec as unknown as Record<string, Record<string, never>>
    const labels = (template.metadata as { labels: object }).labels
    expect(selector.matchLabels).toEqual(labels)
    expect((ofKind('Service').spec as { selector: object }).selector).toEqual(labels)
  })
})

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

describe.skipIf(!hasSystemd)('the systemd unit', () => {
  const unit = fileURLToPath(new URL('sluice.service', DEPLOY))

  test('has no mistake that systemd knows', () => {
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
    // systemd also reports on units of the machine.
    expect(stderr.split('\n').filter((line) => line.includes('sluice'))).toEqual([])
    expect(status).toBe(0)
  })
})
