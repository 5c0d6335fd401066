import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '../../dist/serve/log.js'
import { readServeOptions } from '../../dist/serve/serve-options.js'
import { type RunningService, startService } from '../../dist/serve/start-service.js'

/** A service in this process, on a free port of 127.0.0.1. */
export interface GateService extends RunningService {
  readonly port: number
  /** What it logged, an object for each event. */
  readonly logged: readonly Record<string, unknown>[]
}

/** Starts a service with a policy. `options` are those of the command line, without dashes. */
export async function startGate(levels: string, options: Record<string, string> = {}): Promise<GateService> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-gate-'))
  const policy = join(folder, 'policy.yaml')
  await writeFile(policy, `version: 1\nlevels:\n${levels}`)
  const logged: Record<string, unknown>[] = []
  const log = createLog('json', { write: (line: string) => logged.push(JSON.parse(line)) })
  try {
    const running = await startService(readServeOptions({ http: '127.0.0.1:0', policy, ...options }, {}), log)
    return { ...running, port: Number(new URL(running.url).port), logged }
  } finally {
    await rm(folder, { recursive: true })
  }
}

export interface Asked {
  readonly method?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string
  /** The address that the request comes from, another one of the loopback network. */
  readonly from?: string
}

export interface Answered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Sends a request on a connection of its own. */
export function ask(port: number, path: string, { method = 'GET', headers = {}, body, from }: Asked = {}) {
  return new Promise<Answered>((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, method, headers, agent: false as const }
    const sent = request(from === undefined ? options : { ...options, localAddress: from }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
