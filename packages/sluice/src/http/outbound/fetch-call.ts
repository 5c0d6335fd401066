import { checkSignal } from '../../checks/check-value.js'

/** The arguments of the global `fetch`. */
export type FetchArguments = Parameters<typeof globalThis.fetch>

/**
 * One call as it was when it was made. `fetch` reads its arguments at once, so callers may change a URL or a buffer and call
 * again. A call that waits for its turn needs a copy.
 */
export interface FetchCall {
  /** The request without its body. */
  readonly request: Request
  readonly input: string | Request
  readonly init: RequestInit | undefined
  readonly signal: AbortSignal | undefined
  /** The caller's request. It must not be collected: its signal follows another one only while it exists. */
  readonly given?: Request
  /** Whether the call can be sent more than once. A stream cannot. */
  readonly isRepeatable: boolean
}

/** A Request may stand for an init. Its values are not own properties, so they are read by name. */
const INIT_FIELDS = [
  ...['method', 'headers', 'body', 'signal', 'mode', 'credentials', 'cache', 'redirect', 'referrer'],
  ...['referrerPolicy', 'integrity', 'keepalive', 'duplex'],
]
/** Stands for a body if only its presence matters. */
const SOME_BODY = new Uint8Array(0)

/** Reads the arguments of `fetch`. Throws if `fetch` would, before anything is sent. */
export function readFetchCall(...[target, given]: FetchArguments): FetchCall {
  const whole = isRequest(target) ? target : undefined
  const init = given === undefined || given === null ? undefined : readInit(given)
  const { signal: ownSignal, body: ownBody, ...rest } = init ?? {}
  const signal = (ownSignal === undefined ? whole?.signal : ownSignal) ?? undefined
  checkSignal(signal)
  const body = copyBody(ownBody)
  const hasOwnBody = body !== undefined && body !== null
  const hasStream = !hasOwnBody && whole !== undefined && hasBody(whole)
  const method = rest.method ?? whole?.method ?? 'GET'
  const headers = new Headers(rest.headers ?? whole?.headers)
  const request = new Request(whole?.url ?? String(target), {
    ...rest,
    method,
    headers,
    ...((hasOwnBody || hasStream) && { body: SOME_BODY }),
  })
  const call = {
    request,
    input: whole ?? String(target),
    init: init && { ...init, ...(rest.headers && { headers }), ...(hasOwnBody && { body }) },
    signal,
    // A copy can be sent again, and so can a text, a Blob or no body at all.
    isRepeatable: !hasStream && (!hasOwnBody || body !== ownBody || typeof body === 'string' || body instanceof Blob),
  }
  // Only the `fetch` of the same library understands a request of another library, so that request is not copied.
  if (!(whole instanceof Request)) return call
  // Takes over the body of the caller's request, as `fetch` does, unless the init has another body.
  const copy = hasOwnBody ? new Request(whole, { method, body: SOME_BODY }) : new Request(whole)
  // The signal is passed on by itself: the copy's signal stops following when the copy is collected, perhaps while the
  // response is read.
  const { referrer, referrerPolicy } = copy
  // With any init at all, `fetch` drops the referrer of a request.
  const sent = { ...(call.init ?? { referrer, referrerPolicy }), signal: call.signal ?? null }
  return { ...call, input: copy, init: sent, given: whole }
}

/** Also true for a request of another library. */
function isRequest(target: FetchArguments[0]): target is Request {
  return typeof target === 'object' && target !== null && 'url' in target && 'method' in target
}

function readInit(init: RequestInit): RequestInit {
  const fields = init as Readonly<Record<string, unknown>>
  const given = INIT_FIELDS.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]])
  return { ...init, ...Object.fromEntries(given) }
}

/** Some browsers do not have `body` on a request. There, every method that may have a body counts as one that has. */
function hasBody(request: Request): boolean {
  if ('body' in request) return request.body !== null
  const { method } = request as Request
  return method !== 'GET' && method !== 'HEAD'
}

/** Copies a body that the caller may change, as `fetch` does. A stream and unknown kinds of bodies are passed on. */
function copyBody(body: RequestInit['body']): RequestInit['body'] {
  if (body instanceof URLSearchParams) return new URLSearchParams(body)
  if (body instanceof FormData) {
    const copy = new FormData()
    // The value may be a File. The types have an overload for each, and none for both.
    for (const [name, value] of body) copy.append(name, value as string)
    return copy
  }
  if (body instanceof ArrayBuffer) return body.slice(0)
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice()
  return body
}
