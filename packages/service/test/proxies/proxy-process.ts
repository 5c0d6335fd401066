import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../../../scripts/redis-server.mjs'

/** A proxy that listens on 127.0.0.1, in the foreground, with a folder of its own. */
export interface ProxyProcess {
  readonly port: number
  /** What it wrote to its outputs. */
  output(): string
  stop(): Promise<void>
}

/** How to start a proxy in `folder` so that it listens on `port`. `files` are written into the folder first. */
export interface ProxyStart {
  readonly files: Readonly<Record<string, string>>
  readonly command: string
  readonly args: readonly string[]
}

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a proxy and waits until it listens. `ports` are free: the first is the proxy's own, the others are for its use. */
export async function startProxy(
  start: (folder: string, ports: readonly number[]) => ProxyStart,
): Promise<ProxyProcess> {
  for (let attempt = 1; ; attempt++) {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-proxy-'))
    const ports = [await freePort(), await freePort()]
    const { files, command, args } = start(folder, ports)
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
    const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
    const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    running.add(child)
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data: Buffer) => {
        output += data
      })
    const exited = once(child, 'exit').then(async () => {
      running.delete(child)
      await rm(folder, { recursive: true, force: true })
    })
    if (await listens(ports[0], child))
      return {
        port: ports[0],
        output: () => output,
        async stop() {
          child.kill('SIGKILL')
          await exited
        },
      }
    await exited
    // Another process took a port in between.
    if (attempt === 3 || !/address already in use|in use/i.test(output))
      throw new Error(`${command} does not start:\n${output}`)
  }
}

async function listens(port: number, child: ChildProcess): Promise<boolean> {
  while (child.exitCode === null && child.signalCode === null) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true))
      socket.once('error', () => resolve(false))
    })
    socket.destroy()
    if (isOpen) return true
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return false
}
