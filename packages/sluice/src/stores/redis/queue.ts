import type { ScriptCall } from './script-call.js'

/** Calls that may be sent together, oldest first. */
interface Line {
  calls: ScriptCall[]
}

/**
 * Calls that wait to be sent, oldest first. In a cluster only calls for the same keys are sent together: while a hash slot
 * moves, some of its keys are on one server and some on the other, and Redis refuses a script that names both.
 */
export class Queue {
  readonly #isCluster: boolean
  /** In a cluster: the calls for the same keys, by these keys. */
  readonly #lines = new Map<string, Line>()
  /** Otherwise: all calls. */
  readonly #line: Line = { calls: [] }

  constructor(isCluster: boolean) {
    this.#isCluster = isCluster
  }

  add(call: ScriptCall): void {
    const line = this.#isCluster ? this.#lineOf(call.keys.join(' ')) : this.#line
    line.calls.push(call)
  }

  /**
   * Removes and returns the calls of the next batch: at most `mostCalls`, with at most `mostKeys` keys together unless the
   * first call alone has more. Returns none if none waits.
   */
  next(mostCalls: number, mostKeys: number): readonly ScriptCall[] {
    for (;;) {
      const line = this.#isCluster ? this.#oldestLine() : this.#line
      if (line.calls.length === 0) return []
      const batch = takeFrom(line, mostCalls, mostKeys)
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

  /** The line that has waited longest, moved behind the others. Empty lines are removed on the way. */
  #oldestLine(): Line {
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

/** Removes calls from the front of a line. Calls that were answered at their deadline are dropped. */
function takeFrom(line: Line, mostCalls: number, mostKeys: number): readonly ScriptCall[] {
  const batch: ScriptCall[] = []
  let keys = 0
  let taken = 0
  for (; taken < line.calls.length; taken++) {
    const call = line.calls[taken]
    if (call.isAnswered) continue
    if (batch.length === mostCalls || (batch.length > 0 && keys + call.keys.length > mostKeys)) break
    batch.push(call)
    keys += call.keys.length
  }
  line.calls = taken === line.calls.length ? [] : line.calls.slice(taken)
  return batch
}
