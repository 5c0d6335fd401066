// `npm start`: makes the clone ready, then runs the decision service. Arguments after `--` go to `sluice serve`.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setUp } from './set-up.mjs'
import { root } from './workspaces.mjs'

const parent = process.ppid
setUp({ build: 'if changed' })
const command = join(root, 'packages/service/bin/sluice.js')
const service = spawn(process.execPath, [command, 'serve', ...process.argv.slice(2)], { stdio: 'inherit' })
// The service decides when it ends: a signal is passed on, and this process ends with it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => service.kill(signal))
// npm passes SIGTERM to a shell that ends without passing it on. The service would keep its port, so the end of the shell
// is the same wish.
if (process.env.npm_lifecycle_event !== undefined) {
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    service.kill('SIGTERM')
  }, 250)
  watch.unref()
}
service.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === null ? 0 : 1)
})
