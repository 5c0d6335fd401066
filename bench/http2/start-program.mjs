import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Starts a program in a process of its own. `ask` sends it a message, and resolves to what it answers. */
export async function startProgram(url, args = []) {
  const child = fork(fileURLToPath(url), args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [hello] = await once(child, 'message')
  return {
    hello,
    async ask(message) {
      child.send(message)
      const [answer] = await once(child, 'message')
      if (answer.error !== undefined) throw new Error(answer.error)
      return answer
    },
    async stop() {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}
