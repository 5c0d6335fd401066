import type { AsyncPolicy, Policy } from 'sluice'
import { onTestFinished } from 'vitest'
import { parsePolicyFile } from '../../../service/dist/policy-file/parse-policy-file.js'
import { createLog } from '../../../service/dist/serve/log.js'
import { readServeOptions } from '../../../service/dist/serve/serve-options.js'
import { startService } from '../../../service/dist/serve/start-service.js'

/** What the page asks for before it shows keys. */
export const ADMIN_TOKEN = 'token-of-the-tests'

/** A service in this process that serves the page. */
export interface PageService {
  /** `http://127.0.0.1:40123` */
  readonly url: string
  readonly port: number
  readonly policy: Policy | AsyncPolicy
  /** Sends requests for decisions, one after the other. Resolves with how many were allowed. */
  check(attributes: object, times?: number): Promise<number>
  /** Sends requests, in turn, until something is so. The service samples requests only while a page is open. */
  checkUntil(isSo: () => Promise<boolean>, ...requests: readonly object[]): Promise<void>
  close(): Promise<void>
}

interface PageServiceOptions {
  /** The levels of the policy. Default: the example policy. */
  readonly levels?: readonly object[]
  /** Default: a free port. */
  readonly port?: number
  /** Options of `sluice serve`. */
  readonly values?: Readonly<Record<string, string | undefined>>
}

/** Starts a service. It is closed when the test has finished, if not before. */
export async function startPageService({ levels, port = 0, values }: PageServiceOptions = {}): Promise<PageService> {
  const own = levels === undefined ? {} : { policy: 'tested.json' }
  const given = { http: `127.0.0.1:${port}`, 'admin-token': ADMIN_TOKEN, 'shutdown-ms': '100', ...own, ...values }
  const text = JSON.stringify({ version: 1, name: 'tested', levels })
  const file = levels === undefined ? undefined : parsePolicyFile(text, { file: 'tested.json' })
  const running = await startService(readServeOptions(given, {}), createLog('off', { write: () => {} }), file)
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= running.close()
    return closed
  }
  onTestFinished(close)
  return {
    url: running.url,
    port: Number(new URL(running.url).port),
    get policy() {
      return running.service.policy
    },
    check: (attributes, times = 1) => checkSeveralTimes(running.url, attributes, times),
    async checkUntil(isSo, ...requests) {
      while (!(await isSo())) for (const each of requests) await checkSeveralTimes(running.url, each, 1)
    },
    close,
  }
}

async function checkSeveralTimes(url: string, attributes: object, times: number): Promise<number> {
  let allowed = 0
  for (let sent = 0; sent < times; sent++) {
    const answer = await fetch(`${url}/v1/check`, { method: 'POST', body: JSON.stringify({ attributes }) })
    if (((await answer.json()) as { readonly allowed: boolean }).allowed) allowed++
  }
  return allowed
}
