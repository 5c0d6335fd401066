import { decodedSegment, undecodedSegment } from './decoded-segment.js'

/** The most segments of a pattern. Of a path, only one more is read. */
export const MOST_SEGMENTS = 100

const [SLASH, DOT, PERCENT, QUESTION, HASH, SEMICOLON, BACKSLASH, CAPITAL_A, CAPITAL_Z, TILDE, SPACE] = [
  ...'/.%?#;\\AZ~ ',
].map((each) => each.charCodeAt(0))

/**
 * The path of a target, if all routers read it alike: `/v1/charges?page=2` is `/v1/charges`. Otherwise `undefined`, and
 * `PathReadings` has the readings. Nearly every request takes this path, so it is written out: a regular expression takes
 * three times as long.
 */
export function plainPath(target: string): string | undefined {
  if (target.charCodeAt(0) !== SLASH) return undefined
  let last = SLASH
  let end = 1
  for (; end < target.length; end++) {
    const char = target.charCodeAt(end)
    if (char === QUESTION) break
    if (char === PERCENT || char === HASH || char === SEMICOLON || char === BACKSLASH) return undefined
    if ((char >= CAPITAL_A && char <= CAPITAL_Z) || char > TILDE || char <= SPACE) return undefined
    if (last === SLASH && (char === SLASH || char === DOT)) return undefined
    last = char
  }
  if (last === SLASH && end > 1) return undefined
  return end === target.length ? target : target.slice(0, end)
}

/**
 * All readings of a path by the routers of HTTP frameworks. Routers disagree: Express compares the text as it came and
 * ignores capitals. Fastify decodes escapes first, and version 4 cuts at `;`. Hono and other users of `URL` resolve `..`
 * and turn `\` into `/`. A client must not avoid a level by a spelling that a router accepts, so a condition is evaluated
 * on all readings. Example: `/graphql/%2E%2E` is `/graphql/..` for Fastify, and `/` for Hono.
 */
export class PathReadings {
  /** The distinct readings, each cut after `MOST_SEGMENTS + 1` segments. */
  readonly exact: readonly string[]
  /** `exact` in lower case, and a reading that only some routers accept. */
  readonly folded: readonly string[]
  /** May a router read the target as any path? Then every condition matches it, and only `/**` surely matches it. */
  readonly isAnything: boolean
  readonly #target: string

  /** Reads one target, or several: the target of a request, and the target it was rewritten to. */
  constructor(targets: readonly string[]) {
    const readings = new Set<string>()
    for (const target of targets) for (const path of pathsOf(target)) addReadings(readings, path)
    this.exact = [...readings]
    const folded = new Set(this.exact.map((each) => each.toLowerCase()))
    // Fastify reads `/` as `/:id` with an empty parameter.
    if (folded.has('/')) folded.add(UNKNOWN)
    this.folded = [...folded]
    this.isAnything = !targets.every(isPlainTarget)
    this.#target = targets[0]
  }

  /**
   * The path as part of a key: the coarsest reading, so that two targets that a router reads as one path have one key.
   * Targets in which routers look for the path at different places all share one key.
   */
  get key(): string {
    if (this.folded.length === 1 && !this.isAnything) return this.folded[0]
    const keys = new Set(
      pathsOf(this.#target)
        .filter((path) => path !== UNKNOWN)
        .map(keyOf),
    )
    const [key] = keys
    return keys.size === 1 ? key : NO_ONE_PATH
  }
}

/** An origin, as in `http://example.com/path`. With a base, `URL` reads `//example.com/path` in the same way. */
const ABSOLUTE = /^(?:https?:[/\\]{2}|[/\\]{2,})[^/\\?#]*(.*)$/is
const PLAIN_ORIGIN = /^https?:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?(?:[/?#]|$)/i
const RELATIVE = /^[^\s:/?#\\]*(?:[/?#\\]|$)/
// biome-ignore lint/suspicious/noControlCharactersInRegex: `URL` leaves them out of a path
const CONTROL = /[\0-\x1f\x7f]/

/** A reading that only `/**` and `/:id` match. It keeps targets that a router may read differently out of exemptions. */
const UNKNOWN = '/\0'

/** The key of a target that may be several paths. */
const NO_ONE_PATH = '//'

/** Is it a path, or a path after a plain origin? Routers disagree entirely about other targets. */
function isPlainTarget(target: string): boolean {
  const isPath = /^[/\\]/.test(target) || PLAIN_ORIGIN.test(target) || RELATIVE.test(target)
  return isPath && !CONTROL.test(target)
}

/** The path of a target without origin and query, for each way in which routers find it. */
function pathsOf(target: string): readonly string[] {
  // `OPTIONS *` is about the server, not about a path.
  if (target === '*') return ['*']
  if (!isPlainTarget(target)) return [UNKNOWN]
  const trimmed = target.trimEnd()
  if (trimmed !== target) return [...pathsOf(trimmed), withoutQuery(target)]
  const [, rest] = ABSOLUTE.exec(target) ?? []
  const hasScheme = rest !== undefined && !/^[/\\]/.test(target)
  const paths = hasScheme ? [] : [withoutQuery(target)]
  if (rest !== undefined) paths.push(withoutQuery(rest))
  // Fastify looks for the first slash, even after a question mark.
  if (hasScheme && /^[?#].*[/]/s.test(rest)) paths.push(withoutQuery(rest.slice(rest.indexOf('/'))))
  if (hasScheme) paths.push(UNKNOWN)
  // A router that cuts at `?` only reads `#` as a character of the path.
  const [, hashed] = /^([^?]*#[^?]*)/.exec(target) ?? []
  if (hashed !== undefined && !hasScheme) paths.push(withoutQuery(hashed.replaceAll('#', '%23')))
  return paths
}

function keyOf(path: string): string {
  if (path === '*') return path
  const [plain] = path.trimEnd().split(';', 1)
  return textOf(whole(plain, SLASHES_AND_BACKSLASHES).map(decodedSegment)).toLowerCase()
}

function withoutQuery(text: string): string {
  const end = text.search(/[?#]/)
  const path = end < 0 ? text : text.slice(0, end)
  return /^[/\\]/.test(path) ? path : `/${path}`
}

/** Characters that routers read differently, and those that make some routers see different segments. */
const ODD = /[%\\;]|\/[/.]|\/$/
const OTHER_SEGMENTS = /\\|\/[/.]|%(?:2[ef]|5c)/i

function addReadings(readings: Set<string>, path: string): void {
  if (!ODD.test(path)) {
    readings.add(path)
    return
  }
  // As it came: Express, Koa. Decoded: Fastify. Decoded and cut at a semicolon: Fastify 4.
  add(readings, split(path), undecodedSegment)
  add(readings, split(path), decodedSegment)
  const cut = path.split(';', 1)[0]
  if (cut !== path) add(readings, split(cut), decodedSegment)
  if (OTHER_SEGMENTS.test(path)) addOtherSegments(readings, path, cut)
}

function addOtherSegments(readings: Set<string>, path: string, cut: string): void {
  const slashed = path.replaceAll('\\', '/')
  // With backslashes as slashes: Express and Koa, if there is a `#` too.
  add(readings, split(slashed), undecodedSegment)
  // Resolved, and possibly decoded afterwards: `URL`, Hono.
  const resolved = resolve(split(slashed))
  add(readings, resolved, undecodedSegment)
  add(readings, resolved, decodedSegment)
  for (const text of new Set([path, cut])) {
    // With several slashes as one: Fastify with `ignoreDuplicateSlashes`.
    add(readings, split(text).filter(isNotEmpty), decodedSegment)
    // Decoded as a whole, then resolved: nginx and other proxies, servers of static files.
    add(readings, whole(text, SLASHES), decodedSegment)
    add(readings, whole(text, SLASHES_AND_BACKSLASHES), decodedSegment)
  }
}

const SLASHES = /%2f/gi
const SLASHES_AND_BACKSLASHES = /%2f|%5c|\\/gi

function split(path: string): string[] {
  return path.slice(1).split('/')
}

/** Adds a reading. If it ends in a slash, also adds it without that slash. */
function add(readings: Set<string>, segments: readonly string[], read: (segment: string) => string): void {
  const first = segments.slice(0, MOST_SEGMENTS + 1).map(read)
  readings.add(textOf(first))
  if (first.length > 1 && first.at(-1) === '') readings.add(textOf(first.slice(0, -1)))
}

function textOf(segments: readonly string[]): string {
  return `/${segments.join('/')}`
}

/** The segments if everything that `slashes` matches is a slash, and several slashes are one. */
function whole(path: string, slashes: RegExp): readonly string[] {
  const segments = split(path.replace(slashes, '/')).filter(isNotEmpty)
  return resolve(segments).filter(isNotEmpty)
}

function isNotEmpty(segment: string): boolean {
  return segment !== ''
}

/** Resolves `.` and `..` as `URL` does: `..` removes the segment before it, even an empty one. */
function resolve(segments: readonly string[]): string[] {
  const resolved: string[] = []
  let isFolder = false
  for (const segment of segments) {
    const isUp = isDots(segment, TWO_DOTS)
    isFolder = isUp || isDots(segment, ONE_DOT)
    if (isUp) resolved.pop()
    else if (!isFolder) resolved.push(segment)
  }
  // A path that ends in dots is a folder: `/a/b/..` is `/a/`.
  return isFolder ? [...resolved, ''] : resolved
}

const ONE_DOT = /^(?:\.|%2e)$/i
const TWO_DOTS = /^(?:\.|%2e){2}$/i

function isDots(segment: string, dots: RegExp): boolean {
  return segment.length <= 6 && dots.test(segment)
}
