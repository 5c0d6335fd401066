import type { Awaitable } from '../stores/index.js'
import { giveBack } from './give-back.js'
import type { Guard } from './guard.js'
import { type AnyPassage, JointPassage } from './joint-passage.js'
import { mapped } from './mapped.js'
import type { Passage } from './passage.js'

/** The guards of a request, and the passages through those that have allowed it. */
interface Entry<Request extends object> {
  // biome-ignore lint/suspicious/noExplicitAny: what a response is does not matter here
  readonly guards: readonly Guard<Request, any>[]
  readonly request: Request
  readonly held: readonly Passage[]
}

/**
 * Asks several limits about a request, one after the other. If one of them denies or fails, those before it get their units
 * back and those behind it are not asked.
 */
export function enterAll<Request extends object>(
  guards: Entry<Request>['guards'],
  request: Request,
): Awaitable<AnyPassage | undefined> {
  return enterNext({ guards, request, held: [] }, 0)
}

function enterNext<Request extends object>(entry: Entry<Request>, i: number): Awaitable<AnyPassage | undefined> {
  const { guards, request, held } = entry
  if (i === guards.length) return joint(held)
  const goOn = (passage: Passage | undefined): Awaitable<AnyPassage | undefined> => {
    if (passage === undefined) return enterNext(entry, i + 1)
    const passages = [...held, passage]
    return passage.allowed
      ? enterNext({ guards, request, held: passages }, i + 1)
      : mapped(giveBack(held), () => joint(passages))
  }
  const fail = (error: unknown) => {
    for (const each of held) each.cancel()
    throw error
  }
  let entered: Awaitable<Passage | undefined>
  try {
    entered = guards[i].enter(request, { mustHold: i < guards.length - 1 })
  } catch (error) {
    return fail(error)
  }
  return entered instanceof Promise ? entered.then(goOn, fail) : goOn(entered)
}

function joint(passages: readonly Passage[]): AnyPassage | undefined {
  return passages.length < 2 ? passages[0] : new JointPassage(passages.slice(0, -1), passages[passages.length - 1])
}
