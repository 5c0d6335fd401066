import type { AsyncLimiter, AsyncStore, BlockFor, Clock, Limit, Limiter, SyncStore, Verdict } from 'sluice'
import type { Dialect, GuardOptions, Outcome, TrustedProxies } from 'sluice/http'

/** Limits of an application, in terms that every framework has. */
export interface LimitSpec {
  readonly limit?: Limit | (() => Limit)
  readonly limiter?: Limiter | AsyncLimiter
  readonly name?: string
  readonly store?: SyncStore | AsyncStore
  readonly blockFor?: BlockFor
  // biome-ignore lint/suspicious/noExplicitAny: any policy
  readonly policy?: any
  readonly dialect?: Dialect | readonly Dialect[]
  readonly expose?: boolean
  readonly status?: 429 | 503
  readonly ipv6Prefix?: number
  readonly clock?: Clock
  readonly trustedProxies?: TrustedProxies
  /** The whole address of clients that are not limited. */
  readonly skipAddress?: string
  /** Told of the client that a key function gets. The client is the key too. */
  readonly onClient?: (client: string) => void
  readonly settle?: (outcome: Outcome, request: never, response: never) => number
  readonly onDecision?: (verdict: Verdict, request: object) => void | Promise<void>
  /** The header fields that hold the key, the cost, whether to skip (`yes`), and the policy's attributes. */
  readonly keyIn?: string
  readonly costIn?: string
  readonly skipIn?: string
  readonly attributesIn?: readonly string[]
  /** The header field that says which of these limits a request has. */
  readonly limitsIn?: readonly [field: string, limits: Readonly<Record<string, Limit>>]
  /** Key, cost, skip, attributes and limit are promises, which resolve in another turn of the event loop. */
  readonly later?: boolean
  /** A denied request is answered with 418 and this text. */
  readonly denyWith?: string
  /** Told of every request that comes to the limit. */
  readonly onEnter?: () => void
  /** The key throws. */
  readonly broken?: boolean
  /** Limits of routes, in adapters that have them as an option. */
  readonly routes?: Readonly<Record<string, RouteSpec | false>>
}

/** The limit of a route. */
export type RouteSpec = LimitSpec & { readonly instead?: boolean }

export interface AppSpec {
  /** One middleware each, in this order. */
  readonly limits: readonly LimitSpec[]
  readonly http2?: boolean
  /** Told of every request that comes to a handler, with the object that the framework passes to the handler. */
  readonly onHandled?: (path: string, request: object) => void
}

export interface RunningApp {
  readonly origin: string
  readonly port: number
  close(): Promise<void>
}

/** Starts an application in one framework. */
export type StartApp = (spec: AppSpec) => Promise<RunningApp>

/** The options of Sluice for a framework in which a header field is read so, and a denial answered so. */
export function optionsOf<Request extends object, OnDenied>(
  spec: LimitSpec,
  read: (request: Request, name: string) => string | null | undefined,
  onDenied: (text: string) => OnDenied,
): GuardOptions<Request, unknown, string | undefined> & { onDenied?: OnDenied } {
  const { keyIn, costIn, skipIn, attributesIn, limitsIn, later, denyWith, broken, onEnter, ...others } = spec
  const { skipAddress, onClient, routes, ...rest } = others
  const answer = <T>(value: T): T | Promise<T> =>
    later === true ? new Promise((resolve) => setImmediate(() => resolve(value))) : value
  const field = (request: Request, name: string) => read(request, name) ?? undefined
  const routeOf = (own: RouteSpec | false) => own && optionsOf(own, read, onDenied)
  return {
    ...rest,
    ...(routes && {
      routes: Object.fromEntries(Object.entries(routes).map(([route, own]) => [route, routeOf(own)])),
    }),
    ...(keyIn !== undefined && { key: (request: Request) => answer(field(request, keyIn) ?? 'none') }),
    ...(broken === true && {
      key: () => {
        const error = new Error('the key is broken')
        if (later === true) return Promise.reject(error)
        throw error
      },
    }),
    ...(costIn !== undefined && { cost: (request: Request) => answer(Number(field(request, costIn) ?? 1)) }),
    ...(skipIn !== undefined && { skip: (request: Request) => answer(field(request, skipIn) === 'yes') }),
    ...(skipAddress !== undefined && { skip: (_request: Request, address: string) => address === skipAddress }),
    ...(onClient !== undefined && {
      key: (_request: Request, client: string) => {
        onClient(client)
        return `by ${client}`
      },
    }),
    ...(onEnter !== undefined && {
      skip: () => {
        onEnter()
        return false
      },
    }),
    ...(attributesIn !== undefined && {
      attributes: (request: Request) =>
        answer(Object.fromEntries(attributesIn.map((name) => [name, field(request, name)]))),
    }),
    ...(limitsIn !== undefined && {
      limit: (request: Request) => answer(limitsIn[1][field(request, limitsIn[0]) ?? '']),
    }),
    ...(denyWith !== undefined && { onDenied: onDenied(denyWith) }),
  } as unknown as GuardOptions<Request, unknown, string | undefined> & { onDenied?: OnDenied }
}

export const CHUNK = 'x'.repeat(1_000)

/** Three chunks, each a turn of the event loop after the one before. */
export async function* chunks(): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setImmediate(resolve))
    yield new TextEncoder().encode(CHUNK)
  }
}

/** One chunk, and then nothing more. */
export async function* endless(): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(CHUNK)
  await new Promise(() => {})
}

/** Long enough for a client to go away, if it is told to wait. */
export async function pause(search: string): Promise<void> {
  if (search.includes('wait=yes')) await new Promise((resolve) => setTimeout(resolve, 1_000))
}
