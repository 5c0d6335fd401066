import { invalidType, naming } from '../errors.js'
import { RouteTable } from '../policy/matching/route-table.js'
import type { Awaitable } from '../stores/index.js'
import type { RequestReader } from './client-address.js'
import { enterAll } from './enter-all.js'
import { Guard } from './guard.js'
import type { GuardOptions } from './guard-options.js'
import { inheritedOptions } from './inherited-options.js'
import type { AnyPassage } from './joint-passage.js'
import { LimitNames } from './limit-names.js'

/** The part of a guard that adapters use. */
export interface RequestGuard<Request extends object> {
  enter(request: Request): Awaitable<AnyPassage | undefined>
}

/** The options of a guard with routes, which may be wrong in any way. */
type RoutedOptions<Request, Response> = GuardOptions<Request, Response> & { readonly routes?: unknown }

/** Makes the guard of an adapter. `more` are the names of options that only the adapter uses. */
export function requestGuard<Request extends object, Response>(
  options: RoutedOptions<Request, Response>,
  reader: RequestReader<Request>,
  more: readonly string[],
): RequestGuard<Request> {
  const guard = new Guard<Request, Response>(options, reader, [...more, 'routes'])
  return options.routes === undefined ? guard : new RoutedGuard(guard, options, reader)
}

/** The limit of a route, and what it does with the limits around it. */
interface RouteRule<Request extends object, Response> {
  /** `undefined` for a route that is free. */
  readonly guard: Guard<Request, Response> | undefined
  /** The routes that this one replaces, if it replaces the limit before all. */
  readonly replaced: ReadonlySet<number> | undefined
}

/** A limit before all routes, and limits of routes. */
class RoutedGuard<Request extends object, Response> implements RequestGuard<Request> {
  readonly #before: Guard<Request, Response>
  readonly #reader: RequestReader<Request>
  readonly #table: RouteTable
  readonly #rules: readonly RouteRule<Request, Response>[]

  constructor(
    before: Guard<Request, Response>,
    options: RoutedOptions<Request, Response>,
    reader: RequestReader<Request>,
  ) {
    this.#before = before
    this.#reader = reader
    const entries = routeEntries(options.routes)
    const patterns = entries.map(([pattern]) => pattern)
    const table = new RouteTable('routes', patterns)
    this.#table = table
    const names = new LimitNames()
    names.add('the limit before all', before.counts)
    this.#rules = entries.map(([pattern, own], i) => {
      const isReplacing = own === false || own.instead === true
      const outer = patterns.map((_, other) => other).filter((other) => table.isInside(i, other))
      const guard =
        own === false ? undefined : named(pattern, () => routeGuard(own, options, reader, routeName(pattern)))
      names.add(routeName(pattern), guard?.counts)
      return { guard, replaced: isReplacing ? new Set(outer) : undefined }
    })
  }

  enter(request: Request): Awaitable<AnyPassage | undefined> {
    const found = this.#table.find(this.#reader.method(request), this.#reader.url(request) || '/')
    if (found.length === 0) return this.#before.enter(request)
    // A client chooses the spelling of a path: a route takes limits away only if no router can read the path as another one.
    const replacing = found.filter(({ isSure }) => isSure).flatMap(({ route }) => this.#rules[route].replaced ?? [])
    const guards = found
      .filter(({ route }) => !replacing.some((replaced) => replaced.has(route)))
      .map(({ route }) => this.#rules[route].guard)
    return enterAll([replacing.length === 0 ? this.#before : undefined, ...guards].filter(isPresent), request)
  }
}

function isPresent<T>(guard: T | undefined): guard is T {
  return guard !== undefined
}

function routeGuard<Request extends object, Response>(
  own: object,
  before: RoutedOptions<Request, Response>,
  reader: RequestReader<Request>,
  where: string,
): Guard<Request, Response> {
  const given = own as GuardOptions<Request, Response>
  const options = inheritedOptions<GuardOptions<Request, Response>>(given, before, where)
  return new Guard(options, reader, ['onDenied', 'instead'])
}

type RouteEntry = readonly [pattern: string, own: false | { readonly instead?: boolean }]

function routeEntries(routes: unknown): readonly RouteEntry[] {
  const wanted = "an object of routes, such as { 'POST /login': { limit }, '/health': false }"
  if (!isPlainObject(routes)) throw invalidType('routes', wanted, routes)
  for (const [pattern, own] of Object.entries(routes))
    if (own !== false && (typeof own !== 'object' || own === null))
      throw invalidType(routeName(pattern), 'options such as { limit }, or false for a route that is free', own)
  return Object.entries(routes)
}

/** A `Map` would have no entries here, and its routes no limits. */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Names the route in an error. */
function named<T>(pattern: string, run: () => T): T {
  return naming(routeName(pattern), run)
}

/** The route as the caller writes it. */
function routeName(pattern: string): string {
  return `routes['${pattern}']`
}
