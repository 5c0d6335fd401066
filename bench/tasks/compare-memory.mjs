import { loadBuild } from '../compare/load-build.mjs'
import { memoryCases } from '../compare/memory-cases.mjs'
import { takeTurns } from '../compare/take-turns.mjs'
import { floor } from '../contenders/floor.mjs'
import { strings } from '../contenders/strings.mjs'
import { everyId, randomIds } from '../ids.mjs'

const CALLS_A_TURN = 100_000
const TURNS = { rounds: 15, warmUp: 5 }

/**
 * CPU nanoseconds a call in each turn, garbage collection included: `[{ old, new, strings, floor }, …]`. A policy has no
 * `strings` and no `floor`: its requests are made beforehand.
 */
export async function compareMemory({ builds, title }) {
  const { keys, requests, isAllowed, create } = memoryCases[title]
  const subjects = {}
  for (const [name, folder] of Object.entries(builds))
    subjects[name] = { ask: create(await loadBuild(folder)), isAllowed: (answer) => answer.allowed === isAllowed }
  if (keys !== undefined) Object.assign(subjects, { strings: strings(), floor: floor({ capacity: 1 }, keys) })
  for (const subject of Object.values(subjects)) {
    subject.loop = loopFor(subject, keys === undefined ? 'asked[i]' : "'user:' + asked[i]")
    // Every key is known, and in the denied cases exhausted, before the first turn.
    subject.loop(requests ?? everyId(keys))
  }
  // Other keys in every round, or those of the first would still be in the processor's cache.
  const ids = keys === undefined ? undefined : randomIds(keys, CALLS_A_TURN * (TURNS.rounds + TURNS.warmUp))
  const many = requests && Array.from({ length: CALLS_A_TURN }, (_, i) => requests[i % requests.length])
  return takeTurns(subjects, TURNS, ({ loop }, round) => {
    const asked = many ?? ids.subarray(round * CALLS_A_TURN, (round + 1) * CALLS_A_TURN)
    const before = process.cpuUsage()
    const right = loop(asked)
    const { user, system } = process.cpuUsage(before)
    if (right !== CALLS_A_TURN) throw new Error(`${title}: only ${right} of ${CALLS_A_TURN} answers were right`)
    return ((user + system) / CALLS_A_TURN) * 1_000
  })
}

let copies = 0

/** A copy of the loop for one subject: V8 compiles each copy for its own subject, as it would in a program with one. */
function loopFor({ ask, isAllowed }, argument) {
  const body = `
    let right = 0
    for (let i = 0; i < asked.length; i++) if (isAllowed(ask(${argument}))) right++
    return right`
  const make = new Function('ask', 'isAllowed', `return function loop${++copies}(asked) {${body}}`)
  return make(ask, isAllowed)
}
