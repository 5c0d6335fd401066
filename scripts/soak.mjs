// `npm run soak`: for a minute, a fleet of processes calls a strict API through a shaper. `npm run soak -- service`: for a
// minute, clients abuse the service. Fails if a goal is missed.
import { readResult } from '../bench/results.mjs'
import { abuse } from '../bench/sections/abuse.mjs'
import { soak } from '../bench/sections/soak.mjs'
import { fail, runNode } from './run-command.mjs'
import { setUp } from './set-up.mjs'

const soaks = { shaper: soak, service: abuse }
const [name = 'shaper'] = process.argv.slice(2)
if (!Object.hasOwn(soaks, name)) fail(`There is no soak '${name}'. There are ${Object.keys(soaks).join(' and ')}.`)
const section = soaks[name]

setUp({ build: 'always', redis: true })
const { ok } = runNode(['--expose-gc', 'bench/run.mjs', section.name], { show: true })
const goals = ok ? section.goals(readResult(section.name).data) : []
for (const { goal, measured, reached } of goals)
  console.log(`${reached ? 'reached' : 'not reached'}: ${goal}: ${measured}`)
process.exitCode = ok && goals.every(({ reached }) => reached) ? 0 : 1
