import { adminToken } from './admin-token.js'

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

/** Asks the service: GET, or POST with a body. Rejects with an `AskError`. */
export async function ask<Answer>(path: string, body?: object, token = adminToken()): Promise<Answer> {
  const headers = tokenFields(token)
  const request = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
  let response: Response
  try {
    response = await fetch(path, request)
  } catch {
    throw new AskError('The service does not answer. Is it running?', 0)
  }
  const text = await response.text()
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
