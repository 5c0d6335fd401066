type Body = RequestInit['body']

/** A body that stays as it is whatever the caller does with the one it has, and whether it can be sent more than once. */
export interface CopiedBody {
  readonly body: Body
  readonly isRepeatable: boolean
}

/** Copies what can be changed, as `fetch` does. A stream, and whatever else is not known here, is handed on as it is. */
export function copyOf(body: Body): CopiedBody {
  if (body === undefined || body === null || typeof body === 'string' || body instanceof Blob)
    return { body, isRepeatable: true }
  if (body instanceof URLSearchParams) return { body: new URLSearchParams(body), isRepeatable: true }
  if (body instanceof FormData) return { body: copyOfForm(body), isRepeatable: true }
  if (body instanceof ArrayBuffer) return { body: body.slice(0), isRepeatable: true }
  if (ArrayBuffer.isView(body)) {
    const bytes = new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
    return { body: Uint8Array.from(bytes), isRepeatable: true }
  }
  return { body, isRepeatable: false }
}

function copyOfForm(form: FormData): FormData {
  const copy = new FormData()
  for (const [name, value] of form) {
    if (typeof value === 'string') copy.append(name, value)
    else copy.append(name, value)
  }
  return copy
}
