import type { Awaitable } from '../stores/index.js'
import type { Passage } from './passage.js'

/**
 * Gives back the units of a request that a later limit denies. Afterwards the passages tell what is left with these units. If
 * a store fails to say, its passage tells what was left before.
 */
export function giveBack(passages: readonly Passage[]): Awaitable<unknown> {
  const later = passages.map(givenBack).filter((each) => each !== undefined)
  return later.length === 0 ? undefined : Promise.all(later)
}

function givenBack(passage: Passage): Promise<void> | undefined {
  const ignore = () => {}
  try {
    const given = passage.giveBack()
    return given instanceof Promise ? given.catch(ignore) : undefined
  } catch {
    return undefined
  }
}
