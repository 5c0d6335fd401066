import { UsageError } from './command.js'

const DEFAULT_URL = 'http://127.0.0.1:8080'
const TIMEOUT_MS = 5_000

/** The option that names the service to ask. */
export const URL_OPTION = { value: 'URL', help: `the service to ask. Default: SLUICE_URL, or ${DEFAULT_URL}` } as const

/** A question to a service. */
export interface ServiceQuestion {
  readonly method?: 'GET' | 'POST'
  readonly body?: string
  readonly token?: string | undefined
  /** Ends a stream. Without it, the whole answer must be there within 5 s; with it, only its beginning. */
  readonly signal?: AbortSignal
}

/** The address of the service: of the option, of the environment, or the default one. Has no `/` at its end. */
export function serviceUrl(option: string | undefined, env: Readonly<Record<string, string | undefined>>): string {
  const text = option ?? (env.SLUICE_URL || DEFAULT_URL)
  const source = option === undefined ? 'SLUICE_URL' : '--url'
  return readUrl(text, source)
}

/** Reads `http://host:8080`, `https://host/prefix` or `host:8080`. */
export function readUrl(text: string, source: string): string {
  const whole = text.includes('://') ? text : `http://${text}`
  const url = URL.canParse(whole) ? new URL(whole) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hostname === '' || url.username !== '')
    throw new UsageError(
      `${source} must be the address of a service, such as ${DEFAULT_URL}, got '${text.slice(0, 60)}'`,
    )
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

/** Asks a service. Every failure is a `UsageError` that says what is wrong and what would be right. */
export async function askService(url: string, path: string, question: ServiceQuestion = {}): Promise<Response> {
  const { method = 'GET', body, token, signal } = question
  let response: Response
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new DOMException('too late', 'TimeoutError')), TIMEOUT_MS)
  try {
    response = await fetch(`${url}${path}`, {
      method,
      redirect: 'manual',
      signal: signal === undefined ? AbortSignal.timeout(TIMEOUT_MS) : AbortSignal.any([signal, late.signal]),
      headers: {
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body }),
    })
  } catch (error) {
    throw unreachable(url, error)
  } finally {
    clearTimeout(timer)
  }
  if (response.ok) return response
  throw await refusal(url, response, token)
}

/** Asks for JSON. An answer without the member `member` does not come from a Sluice service. */
export async function askForJson<T>(
  url: string,
  path: string,
  member: string,
  question: ServiceQuestion = {},
): Promise<T> {
  const response = await askService(url, path, question)
  const answer = await jsonOf(response)
  if (typeof answer === 'object' && answer !== null && Object.hasOwn(answer, member)) return answer as T
  throw notSluice(url, `it answers ${path} with ${contentOf(response)}`)
}

/** Why no answer came. `fetch` hides the reason in the cause of its error. */
export function unreachable(url: string, error: unknown): UsageError {
  const cause = ((error as Error).cause ?? error) as NodeJS.ErrnoException
  const { code = '', message, name } = cause
  if (code === 'ECONNREFUSED')
    return new UsageError(
      `no service listens at ${url}; 'sluice serve' starts one, and --url or SLUICE_URL names another`,
      1,
    )
  if (name === 'TimeoutError') return new UsageError(`${url} did not answer within ${TIMEOUT_MS / 1_000} s`, 1)
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new UsageError(`the host of ${url} has no address; --url or SLUICE_URL names another service`, 1)
  if (code === 'ECONNRESET' || code === 'UND_ERR_SOCKET' || code.startsWith('HPE_'))
    return notSluice(url, `it does not speak HTTP (${message})`)
  return new UsageError(`${url} cannot be reached: ${message || code}`, 1)
}

/** Why the service refused. A problem of Sluice says it in its `detail`. */
async function refusal(url: string, response: Response, token: string | undefined): Promise<UsageError> {
  const { status } = response
  if (status >= 300 && status < 400)
    return new UsageError(`${url} redirects to ${response.headers.get('location')}; give that address with --url`, 1)
  const problem = (await jsonOf(response)) as { detail?: unknown } | undefined
  const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json') === true
  if (!isProblem || typeof problem?.detail !== 'string')
    return notSluice(url, `it answers with status ${status} and ${contentOf(response)}`)
  const { detail } = problem
  if (status === 400) return new UsageError(detail)
  if (status === 403)
    return new UsageError(
      `the admin API of ${url} is off: start the service with --admin-token TEXT or SLUICE_ADMIN_TOKEN, and give the same ` +
        'token to this command',
      1,
    )
  if (status === 401) {
    const given = token === undefined ? 'no admin token is given' : 'the admin token is wrong'
    return new UsageError(
      `${given}: --admin-token or SLUICE_ADMIN_TOKEN must be the token that ${url} was started with`,
      1,
    )
  }
  return new UsageError(`${url} answers with status ${status}: ${detail}`, 1)
}

function notSluice(url: string, because: string): UsageError {
  return new UsageError(`${url} is not a Sluice service: ${because}`, 1)
}

function contentOf(response: Response): string {
  return response.headers.get('content-type')?.split(';')[0] ?? 'no content type'
}

async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    return undefined
  }
}
