import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { inChild } from '../in-child.mjs'
import { fixed, table } from '../markdown.mjs'
import { withRedis } from '../with-redis.mjs'

const CALLERS = [1, 16, 256]
const CONTENDERS = { service: 'serviceStore', redis: 'redisStore' }
const main = fileURLToPath(new URL('../../packages/service/bin/sluice.js', import.meta.url))

/** Decisions of a Node program through a service on the memory store, beside the same program on Redis. */
export const serviceClient = {
  name: 'service-client',
  title: 'Service: decisions through serviceStore',

  measure: ({ full }) =>
    withRedis((port) =>
      withService(({ url, pid }) => {
        const found = {}
        for (const callers of CALLERS) {
          console.error(`  ${callers} callers`)
          const own = Object.keys(CONTENDERS).map((contender) => {
            const options = { contender, url, pid, port, callers, ms: full ? 10_000 : 2_000 }
            return [contender, inChild('serviceClient', options)]
          })
          found[callers] = Object.fromEntries(own)
        }
        return found
      }),
    ),

  render(found) {
    const rows = Object.entries(found).flatMap(([callers, own]) =>
      Object.entries(own).map(([contender, { perSecond, p50Us, p99Us, clientUs, serverUs }]) => [
        `${callers} ${callers === '1' ? 'caller' : 'callers'}, ${CONTENDERS[contender]}`,
        fixed(perSecond),
        fixed(p50Us),
        fixed(p99Us),
        fixed(clientUs, 1),
        fixed(serverUs, 1),
      ]),
    )
    return [
      'Callers in one process ask again as soon as they have their answer, for 10,000 keys of a token bucket. The service keeps',
      'its state in memory; Redis is asked by ioredis without a service. CPU is microseconds a decision of the asking process and',
      'of the server (the service, or the command thread of Redis).',
      '',
      table(['', 'decisions/s', 'p50 µs', 'p99 µs', 'CPU of the client', 'CPU of the server'], rows),
    ].join('\n')
  },

  goals: () => [],
}

/** Starts a service on a free port, calls `run` with its address and process id, and stops it. */
async function withService(run) {
  const args = [main, 'serve', '--http', '127.0.0.1:0', '--log', 'json', '--demo', 'off']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const url = await new Promise((resolve, reject) => {
      let output = ''
      child.stdout.on('data', (data) => {
        output += data
        const [, found] = /"url":"([^"]+)"/.exec(output) ?? []
        if (found !== undefined) resolve(found)
      })
      child.once('exit', () => reject(new Error('the service ended')))
    })
    return await run({ url, pid: child.pid })
  } finally {
    child.kill()
    if (child.exitCode === null) await once(child, 'exit')
  }
}
