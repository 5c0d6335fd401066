import { adminToken, setTokenRefused } from './admin-token.js'

/** An answer that is an error. The message is written for a person: it comes from the service's problem details. */
export class AskError extends Error {
  override readonly name = 'AskError'
  /** 0 if the service could not be reached. */
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

/** Header fields of a request: the admin token, if there is one. */
export function tokenFields(token = adminToken()): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
}

/** A service that is held up may never answer. */
const LONGEST_MS = 15_000

/**
 * The token that the service refused last, and its words. It is not sent again: views ask every second, and an address may try a few
 * wrong tokens only, so a page that was left open would lock out the person who has the right one.
 */
let refused: { readonly token: string | undefined; readonly error: AskError } | undefined

/** Asks the service: GET, or POST with a body. Rejects with an `AskError`. */
export async function ask<Answer>(path: string, body?: object): Promise<Answer> {
  const token = adminToken()
  if (refused !== undefined && refused.token === token) throw refused.error
  try {
    return await send(path, token, body)
  } catch (error) {
    if (token !== undefined && error instanceof AskError && error.status === 401) {
      refused = { token, error }
      if (adminToken() === token) setTokenRefused(true)
    }
    throw error
  }
}

/** Asks the smallest question that wants the token. Rejects with an `AskError` if it is wrong. */
export async function tryToken(token: string): Promise<void> {
  await send('/v1/admin/top-keys?limit=1', token)
  refused = undefined
}

async function send<Answer>(path: string, token: string | undefined, body?: object): Promise<Answer> {
  const common = { headers: tokenFields(token), signal: AbortSignal.timeout(LONGEST_MS) }
  const request = body === undefined ? common : { ...common, method: 'POST', body: JSON.stringify(body) }
  let response: Response
  let text: string
  try {
    response = await fetch(path, request)
    text = await response.text()
  } catch {
    throw new AskError('The service does not answer. Is it running?', 0)
  }
  if (!response.ok) throw new AskError(problemOf(text) ?? `The service answered ${response.status}.`, response.status)
  return JSON.parse(text) as Answer
}

function problemOf(text: string): string | undefined {
  try {
    const { detail } = JSON.parse(text) as { readonly detail?: unknown }
    return typeof detail === 'string' ? `${detail[0].toUpperCase()}${detail.slice(1)}.` : undefined
  } catch {
    return undefined
  }
}
