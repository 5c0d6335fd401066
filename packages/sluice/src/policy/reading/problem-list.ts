import { nearest } from '../../checks/nearest.js'
import { peerAdvice } from '../../checks/peer-advice.js'
import { InvalidTypeError, InvalidValueError, type PolicyProblem, shown } from '../../errors.js'

export type Path = PolicyProblem['path']

/**
 * Collects every problem of a policy, in the order found. The readers continue after a problem, so that one reading
 * finds them all; a reader that finds one returns `undefined`, and so does `add`.
 */
export class ProblemList {
  readonly all: PolicyProblem[] = []

  add(path: Path, message: string): undefined {
    this.all.push({ path, message })
  }

  /** Returns the result of `run`. If `run` throws an `InvalidTypeError` or `InvalidValueError`, adds its message. */
  catch<T>(path: Path, run: () => T): T | undefined {
    try {
      return run()
    } catch (error) {
      if (!(error instanceof InvalidTypeError || error instanceof InvalidValueError)) throw error
      return this.add(path, error.message)
    }
  }

  /** Checks that the value is an object. Adds each unknown name as a problem, and still returns the object. */
  object(path: Path, what: string, value: unknown, known: readonly string[]): Record<string, unknown> | undefined {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return this.add(path, `${what} must be an object with ${known.join(', ')}, got ${shown(value)}`)
    }
    for (const name of Object.keys(value)) {
      if (!known.includes(name)) this.add([...path, name], unknown(what, name, known))
    }
    return value as Record<string, unknown>
  }

  list(path: Path, what: string, value: unknown): readonly unknown[] | undefined {
    return Array.isArray(value) ? Array.from(value) : this.add(path, `${what} must be a list, got ${shown(value)}`)
  }
}

function unknown(what: string, name: string, known: readonly string[]): string {
  const meant = nearest(name, known)
  const spelling = meant === undefined ? `it has ${known.join(', ')}` : `did you mean '${meant}'?`
  return `${what} has no ${shown(name)}; ${peerAdvice(name, known) ?? spelling}`
}
