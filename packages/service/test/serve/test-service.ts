import { parsePolicyFile } from '../../src/policy-file/parse-policy-file.js'
import { createLog } from '../../src/serve/log.js'
import type { ServeOptions } from '../../src/serve/serve-options.js'
import { readServeOptions } from '../../src/serve/serve-options.js'
import { type RunningService, startService } from '../../src/serve/start-service.js'

/** A service in this process, on a free port, and what it has logged. */
export interface TestService extends RunningService {
  readonly logged: string[]
}

/** Starts a service with the example policy, or with these levels and this name of the policy. */
export async function startTestService(
  levels?: readonly object[],
  values: Readonly<Record<string, string>> = {},
  name?: string,
): Promise<TestService> {
  const logged: string[] = []
  const options: ServeOptions = readServeOptions({ http: '127.0.0.1:0', ...values }, {})
  const log = createLog('json', { write: (text: string) => logged.push(text) })
  const file =
    levels === undefined
      ? undefined
      : parsePolicyFile(JSON.stringify({ version: 1, name, levels }), { file: 'test.json' })
  return { ...(await startService(options, log, file)), logged }
}

/** Asks the service in JSON. */
export async function ask(url: string, path: string, body: unknown): Promise<{ status: number; body: never }> {
  const response = await fetch(url + path, { method: 'POST', body: JSON.stringify(body) })
  return { status: response.status, body: (await response.json()) as never }
}
