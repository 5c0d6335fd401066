// `npm start`: makes the clone ready, then runs the decision service. Arguments after `--` go to `sluice serve`.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setUp } from './set-up.mjs'
import { root } from './workspaces.mjs'

setUp({ build: 'if changed' })
const command = join(root, 'packages/service/bin/sluice.js')
const service = spawn(process.execPath, [command, 'serve', ...process.argv.slice(2)], { stdio: 'inherit' })
// The service decides when it ends: a signal is passed on, and this process ends with it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => service.kill(signal))
service.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === null ? 0 : 1)
})
