import { checkSignal } from '../../checks/check-value.js'
import { copyOf } from './copy-of-body.js'

/** What the global `fetch` is called with. */
export type FetchArguments = Parameters<typeof globalThis.fetch>

/**
 * One call as it was when it was made. `fetch` takes what it is given at once, and so callers change an URL or a buffer
 * and call again; whoever waits for a turn needs a copy.
 */
export interface Call {
  /** What is asked of whom, but for the body. */
  readonly request: Request
  readonly input: string | Request
  readonly init: RequestInit | undefined
  readonly signal: AbortSignal | undefined
  /** The request that was given. Only while somebody holds it does its signal follow the one that it was made with. */
  readonly given?: Request
  /** It can be sent more than once: a stream cannot. */
  readonly isRepeatable: boolean
}

/** A Request may stand for an init, and what it says is not its own but its prototype's. */
const FIELDS = [
  'method',
  'headers',
  'body',
  'signal',
  'mode',
  'credentials',
  'cache',
  'redirect',
  'referrer',
  'referrerPolicy',
  'integrity',
  'keepalive',
  'duplex',
]
/** Stands for a body where it only counts that there is one. */
const SOMETHING = new Uint8Array(0)

/** Reads the arguments of `fetch`. Throws where `fetch` would, before anybody is called. */
export function readCall(...[target, given]: FetchArguments): Call {
  const whole = isRequest(target) ? target : undefined
  const init = given === undefined || given === null ? undefined : fieldsOf(given)
  const { signal: ownSignal, body: ownBody, ...rest } = init ?? {}
  const signal = (ownSignal === undefined ? whole?.signal : ownSignal) ?? undefined
  checkSignal(signal)
  const { body, isRepeatable } = copyOf(ownBody)
  const hasOwnBody = body !== undefined && body !== null
  const hasStream = !hasOwnBody && whole !== undefined && hasBody(whole)
  const method = rest.method ?? whole?.method ?? 'GET'
  const headers = new Headers(rest.headers ?? whole?.headers)
  const request = new Request(whole?.url ?? String(target), {
    ...rest,
    method,
    headers,
    ...((hasOwnBody || hasStream) && { body: SOMETHING }),
  })
  const call = {
    request,
    input: whole ?? String(target),
    init: init && { ...init, ...(rest.headers && { headers }), ...(hasOwnBody && { body }) },
    signal,
    isRepeatable: isRepeatable && !hasStream,
  }
  // One of another library is known only to the `fetch` that belongs to it, and stays as it is.
  if (!(whole instanceof Request)) return call
  // Takes the body, as `fetch` does, unless there is another one in its place.
  const copy = hasOwnBody ? new Request(whole, { method, body: SOMETHING }) : new Request(whole)
  // The copy's signal would follow no more once the copy is collected, which may be while the response is read.
  const sent = { ...(call.init ?? referrerOf(copy)), signal: call.signal ?? null }
  return { ...call, input: copy, init: sent, given: whole }
}

/** With any init at all, `fetch` forgets the referrer of a request. */
function referrerOf({ referrer, referrerPolicy }: Request): RequestInit {
  return { referrer, referrerPolicy }
}

/** Also one of another library, which the `fetch` that belongs to it understands. */
function isRequest(target: FetchArguments[0]): target is Request {
  return typeof target === 'object' && target !== null && 'url' in target && 'method' in target
}

function fieldsOf(init: RequestInit): RequestInit {
  const fields = init as Readonly<Record<string, unknown>>
  const said = FIELDS.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]])
  return { ...init, ...Object.fromEntries(said) }
}

/** Some browsers do not show the body of a request. */
function hasBody(request: Request): boolean {
  if ('body' in request) return request.body !== null
  const { method } = request as Request
  return method !== 'GET' && method !== 'HEAD'
}
