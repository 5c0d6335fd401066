// `npm run bench`: makes the clone ready, then measures. Arguments after `--` go to bench/run.mjs, which gets
// a process of its own, so that nothing of the set-up is in its heap.
import { runNode } from './run-command.mjs'
import { setUp } from './set-up.mjs'

setUp({ build: true, redis: true })
const { ok } = runNode(['--expose-gc', 'bench/run.mjs', ...process.argv.slice(2)], { show: true })
process.exitCode = ok ? 0 : 1
