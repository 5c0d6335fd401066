// `npm run soak`: for a minute, a fleet of processes calls a strict API through a shaper. Fails if a goal is missed.
import { readResult } from '../bench/results.mjs'
import { soak } from '../bench/sections/soak.mjs'
import { runNode } from './run-command.mjs'
import { setUp } from './set-up.mjs'

setUp({ build: 'always', redis: true })
const { ok } = runNode(['--expose-gc', 'bench/run.mjs', soak.name], { show: true })
const goals = ok ? soak.goals(readResult(soak.name).data) : []
for (const { goal, measured, reached } of goals)
  console.log(`${reached ? 'reached' : 'not reached'}: ${goal}: ${measured}`)
process.exitCode = ok && goals.every(({ reached }) => reached) ? 0 : 1
