import type { Answer, Demand } from '../store.js'
import type { SyncedKey } from './synced-key.js'

/** A demand on a key that is counted in this process. */
export interface LocalDemand {
  readonly demand: Demand
  readonly synced: SyncedKey
}

/** The demands of a request, by where they are decided. */
export interface SplitRequest {
  readonly local: readonly LocalDemand[]
  readonly remote: readonly Demand[]
  /** Puts two answers together, in the order of the request. */
  join(allowed: boolean, local: Answer, remote: Answer): Answer
}

/** The answer to no demands. */
export const NOTHING_ASKED: Answer = { allowed: true, decisions: [], takenUs: [] }

/** Divides the demands of a request: those on a key that `find` knows are local. */
export function splitRequest(
  demands: readonly Demand[],
  find: (demand: Demand) => SyncedKey | undefined,
): SplitRequest {
  const local: LocalDemand[] = []
  const remote: Demand[] = []
  const isLocal = demands.map((demand) => {
    const synced = find(demand)
    if (synced === undefined) remote.push(demand)
    else local.push({ demand, synced })
    return synced !== undefined
  })
  return {
    local,
    remote,
    join(allowed, here, there) {
      if (remote.length === 0) return here
      let [nextLocal, nextRemote] = [0, 0]
      const places = isLocal.map((each) => (each ? ([here, nextLocal++] as const) : ([there, nextRemote++] as const)))
      return {
        allowed,
        decisions: places.map(([{ decisions }, i]) => decisions[i]),
        takenUs: places.map(([{ takenUs }, i]) => takenUs[i]),
      }
    },
  }
}
