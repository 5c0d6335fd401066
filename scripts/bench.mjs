// `npm run bench`: makes the clone ready, then measures. Arguments after `--` go to bench/run.mjs. It runs in its own
// process, so that its heap holds nothing of the set-up.
import { runNode } from './run-command.mjs'
import { setUp } from './set-up.mjs'

setUp({ build: 'always', redis: true })
const { ok } = runNode(['--expose-gc', 'bench/run.mjs', ...process.argv.slice(2)], { show: true })
process.exitCode = ok ? 0 : 1
