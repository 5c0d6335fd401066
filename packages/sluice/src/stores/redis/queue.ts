import type { Call } from './call.js'

/** Calls that may be sent together. */
interface Line {
  readonly calls: Call[]
  /** How many keys they name. */
  size: number
}

/**
 * Calls that wait to be sent, oldest first. In a cluster only calls for the same keys leave together: while a slot moves,
 * some of its keys are here and some there, and Redis refuses a script that names both.
 */
export class Queue {
  readonly #isCluster: boolean
  readonly #lines = new Map<string, Line>()
  #line: Line = { calls: [], size: 0 }

  constructor(isCluster: boolean) {
    this.#isCluster = isCluster
  }

  add(call: Call): void {
    const line = this.#isCluster ? this.#lineOf(call.together) : this.#line
    line.calls.push(call)
    line.size += call.size
  }

  /** Removes and gives calls with no more than `most` keys, but one in any case; none if none is waiting. */
  next(most: number): readonly Call[] {
    for (;;) {
      const line = this.#takeLine()
      if (line.calls.length === 0) return []
      const calls = line.calls.filter(isWaiting)
      const count = line.size <= most ? calls.length : countWithin(calls, most)
      for (let i = count; i < calls.length; i++) this.add(calls[i])
      if (count > 0) return count === calls.length ? calls : calls.slice(0, count)
    }
  }

  #lineOf(keys: string): Line {
    let line = this.#lines.get(keys)
    if (line === undefined) {
      line = { calls: [], size: 0 }
      this.#lines.set(keys, line)
    }
    return line
  }

  #takeLine(): Line {
    for (const [keys, line] of this.#lines) {
      this.#lines.delete(keys)
      return line
    }
    const line = this.#line
    if (line.calls.length > 0) this.#line = { calls: [], size: 0 }
    return line
  }
}

/** Those who were answered at their deadline do not wait any more. */
function isWaiting(call: Call): boolean {
  return !call.isAnswered
}

function countWithin(calls: readonly Call[], most: number): number {
  let size = 0
  const beyond = calls.findIndex((call) => {
    size += call.size
    return size > most
  })
  return beyond < 0 ? calls.length : Math.max(1, beyond)
}
