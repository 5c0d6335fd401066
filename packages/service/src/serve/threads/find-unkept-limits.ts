import type { NamedLimit, PolicyProblem, ReadLevel } from 'sluice'

/** The table knows limits by names. No level of a policy can have this one: those names contain the policy's. */
const NAME = '#policy'

/** A table that may refuse a limit. */
interface Table {
  prepare(named: NamedLimit): void
}

/**
 * Finds limits of a policy that the table of the threads cannot keep. Without this, a worker would refuse the policy after
 * other workers have put it in force.
 */
export function findUnkeptLimits(levels: readonly ReadLevel[], table: Table): readonly PolicyProblem[] {
  return levels.flatMap(({ name, limits, overrides }, i) => {
    const lists = [{ at: ['levels', i, 'limit'], limits }].concat(
      overrides.map((override, j) => ({ at: ['levels', i, 'overrides', j, 'limit'], limits: override.limits })),
    )
    return lists.flatMap((list) =>
      list.limits.flatMap((limit, k) => {
        const reason = whyUnkept(() => table.prepare({ name: NAME, limit }))
        return reason === undefined ? [] : [{ path: [...list.at, k], message: messageFor(name, reason) }]
      }),
    )
  })
}

function whyUnkept(prepare: () => void): string | undefined {
  try {
    prepare()
    return undefined
  } catch (error) {
    return refusalText(error as Error)
  }
}

function messageFor(level: string, reason: string): string {
  return `the level '${level}' needs --workers 1 or a Redis, such as --store redis://localhost:6379: ${reason}`
}

/** Why the table refused a limit, without the library's advice for programs that have threads of their own. */
export function refusalText({ message }: Error): string {
  return message
    .replace('sharedStore', 'the table of the worker threads')
    .replace(', or memoryStore() in each thread', '')
}
