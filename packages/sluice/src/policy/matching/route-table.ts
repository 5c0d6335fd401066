import { InvalidValueError, naming } from '../../errors.js'
import { ProblemList } from '../reading/problem-list.js'
import { readConditions } from '../reading/read-conditions.js'
import { type AttributeTest, compileCondition } from './attribute-test.js'
import { Facts, type PathValue } from './facts.js'
import { covers, type PathPattern, parsePathPattern } from './path-pattern.js'
import { RuleIndex } from './rule-index.js'

/** A route that matches a request under at least one reading of its path. */
export interface FoundRoute {
  /** The route's number, from 0, in the order in which the routes are written. */
  readonly route: number
  /** Does it match under every reading? */
  readonly isSure: boolean
}

interface Route {
  readonly method: string | undefined
  readonly path: PathPattern
}

/** A method, perhaps, and a path. */
const METHOD_AND_PATH = /^(?:([^\s/]+)\s+)?(.*)$/s

/**
 * Finds the routes of a request among those that are written as `'POST /v1/charges'` or, for every method, `'/v1/**'`. It
 * reads patterns and requests as the conditions of a policy do.
 */
export class RouteTable {
  readonly #facts = new Facts(128)
  readonly #routes: readonly Route[]
  readonly #index: RuleIndex<number>

  /** `option` is what errors call the table. */
  constructor(option: string, patterns: readonly string[]) {
    const read = patterns.map((pattern) => naming(`${option}['${pattern}']`, () => this.#read(pattern)))
    this.#routes = read
    this.#index = new RuleIndex(read.map(({ tests }, item) => ({ item, tests })))
    for (const [i, pattern] of patterns.entries()) {
      const same = patterns.find((_, other) => other < i && this.#areSame(i, other))
      if (same === undefined) continue
      throw new InvalidValueError(`${option} has '${same}' and '${pattern}', which are the same route`, { option })
    }
  }

  /** The routes of a request, in the order in which they are written. */
  find(method: string, path: PathValue): readonly FoundRoute[] {
    this.#facts.read({ method, path })
    const count = this.#index.find(this.#facts)
    return Array.from({ length: count }, (_, i) => ({ route: this.#index.at(i), isSure: this.#index.isSure(i) }))
  }

  /** Whether `inner` is narrower than `outer`: its path is, or the paths are the same and only `inner` has a method. */
  isInside(inner: number, outer: number): boolean {
    const [own, around] = [this.#routes[inner], this.#routes[outer]]
    if (!covers(around.path, own.path)) return false
    return !covers(own.path, around.path) || (own.method !== undefined && around.method === undefined)
  }

  #areSame(one: number, other: number): boolean {
    const [a, b] = [this.#routes[one], this.#routes[other]]
    return a.method === b.method && covers(a.path, b.path) && covers(b.path, a.path)
  }

  #read(pattern: string): Route & { readonly tests: readonly AttributeTest[] } {
    checkMethods(pattern)
    const [, method, path] = METHOD_AND_PATH.exec(pattern) as RegExpExecArray
    const problems = new ProblemList()
    const conditions = readConditions(problems, [], method === undefined ? { path } : { method, path })
    if (problems.all.length > 0) throw new InvalidValueError(problems.all.map(({ message }) => message).join('; '))
    const tests = conditions.map((condition) => compileCondition(condition, this.#facts))
    return { method: method?.toUpperCase(), path: parsePathPattern('path', path), tests }
  }
}

/** Other routers have words for all methods, and lists of methods. */
function checkMethods(pattern: string): void {
  const at = pattern.indexOf('/')
  const path = pattern.slice(at)
  const methods = pattern
    .slice(0, Math.max(at, 0))
    .split(/[\s,|]+/)
    .filter((each) => each !== '')
  if (methods.length > 1) throw new InvalidValueError(`write one route for each method, as in '${methods[0]} ${path}'`)
  if (/^(all|any|\*)$/i.test(methods[0] ?? ''))
    throw new InvalidValueError(`leave the method out for all methods: '${path}'`)
}
