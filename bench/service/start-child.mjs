import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('./serve.mjs', import.meta.url))

/** Starts serve.mjs: `{ answer }` or `{ grpcAnswer }` for a bare server, `{ policy, options }` for the service. */
export async function startChild(what, flags = []) {
  const child = fork(program, [JSON.stringify(what)], {
    execArgv: flags,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [{ port, grpcPort }] = await once(child, 'message')
  return {
    port,
    grpcPort,
    /** `{ cpuUs, rss, heapUsed, openFiles }`. */
    async usage() {
      child.send('usage')
      return (await once(child, 'message'))[0]
    },
    async stop() {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}
