import type { Call } from './call.js'

/** Calls that may be sent together. */
interface Line {
  calls: Call[]
}

/**
 * Calls that wait to be sent, oldest first. In a cluster only calls for the same keys leave together: while a slot moves,
 * some of its keys are here and some there, and Redis refuses a script that names both.
 */
export class Queue {
  readonly #isCluster: boolean
  readonly #lines = new Map<string, Line>()
  readonly #line: Line = { calls: [] }

  constructor(isCluster: boolean) {
    this.#isCluster = isCluster
  }

  add(call: Call): void {
    const line = this.#isCluster ? this.#lineOf(call.together) : this.#line
    line.calls.push(call)
  }

  /** Removes and gives calls with no more than `most` keys, but one in any case; none if none is waiting. */
  next(most: number): readonly Call[] {
    for (;;) {
      const line = this.#longest()
      if (line.calls.length === 0) return []
      const batch = takeFrom(line, most)
      if (batch.length > 0) return batch
    }
  }

  #lineOf(keys: string): Line {
    let line = this.#lines.get(keys)
    if (line === undefined) {
      line = { calls: [] }
      this.#lines.set(keys, line)
    }
    return line
  }

  /** The line that waits longest. What is left of it waits on, behind the others. */
  #longest(): Line {
    if (!this.#isCluster) return this.#line
    for (const [keys, line] of this.#lines) {
      this.#lines.delete(keys)
      if (line.calls.length > 0) {
        this.#lines.set(keys, line)
        return line
      }
    }
    return this.#line
  }
}

/** Removes the first calls of a line. Those who were answered at their deadline do not wait any more. */
function takeFrom(line: Line, most: number): readonly Call[] {
  const batch: Call[] = []
  let size = 0
  let taken = 0
  for (; taken < line.calls.length; taken++) {
    const call = line.calls[taken]
    if (!call.isAnswered) {
      if (batch.length > 0 && size + call.size > most) break
      batch.push(call)
      size += call.size
    }
  }
  line.calls = line.calls.slice(taken)
  return batch
}
