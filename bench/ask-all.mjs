import { setImmediate } from 'node:timers/promises'

/** The event loop turns between requests of a server. A loop that never let it turn would pile up settled rejections. */
const CALLS_A_TURN = 256

/** Asks a contender once for each id, each time with a new key string. Returns how many calls were allowed. */
export function askAll(contender, ids) {
  return contender.isAsync ? askAndAwait(contender, ids) : askAtOnce(contender, ids)
}

function askAtOnce({ ask, isAllowed }, ids) {
  let allowed = 0
  for (let i = 0; i < ids.length; i++) if (isAllowed(ask(`user:${ids[i]}`))) allowed++
  return allowed
}

async function askAndAwait({ ask, isAllowed }, ids) {
  let allowed = 0
  for (let i = 0; i < ids.length; i++) {
    if (i % CALLS_A_TURN === 0) await setImmediate()
    try {
      if (isAllowed(await ask(`user:${ids[i]}`))) allowed++
    } catch (denial) {
      if (denial instanceof Error) throw denial
    }
  }
  return allowed
}
