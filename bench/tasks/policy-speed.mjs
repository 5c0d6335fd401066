import { createPolicy } from 'sluice'
import { cpuWaitMs } from '../cpu-wait.mjs'
import { policies, requestFor } from '../policies.mjs'

const KEYS = 10_000
const CALLS_A_TURN = 10_000
const TURNS = 60
/** The first turns are for the compiler. */
const WARM_UP_TURNS = 20

/**
 * Policies take turns in one process, so that none has a better place in memory or on a CPU than another. Returns, for each
 * policy, the mean time of a check in each turn, in nanoseconds.
 */
export async function policySpeed({ names, case: name }) {
  const isAdmitted = name === 'admitted'
  const limit = { capacity: isAdmitted ? 1e5 : 1 }
  const requests = Array.from({ length: KEYS }, (_, id) => requestFor(id))
  const subjects = Object.fromEntries(
    names.map((each) => [each, createPolicy({ levels: policies[each].levels(limit) })]),
  )
  for (const policy of Object.values(subjects)) for (const request of requests) policy.check(request)
  const found = Object.fromEntries(names.map((each) => [each, {}]))
  for (let turn = 0; turn < TURNS; turn++) {
    for (const each of names) {
      const ns = nsOfTurn(subjects[each], requests, isAdmitted)
      if (turn >= WARM_UP_TURNS) found[each][`turn ${turn}`] = ns
    }
  }
  return found
}

function nsOfTurn(policy, requests, isAdmitted) {
  const beganMs = workedMs()
  let allowed = 0
  for (let i = 0; i < CALLS_A_TURN; i++) if (policy.check(requests[i % requests.length]).allowed) allowed++
  const ms = workedMs() - beganMs
  if (allowed !== (isAdmitted ? CALLS_A_TURN : 0)) throw new Error(`${allowed} of ${CALLS_A_TURN} were allowed`)
  return (ms / CALLS_A_TURN) * 1e6
}

function workedMs() {
  return performance.now() - cpuWaitMs()
}
