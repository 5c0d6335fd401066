import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { type AsyncStore, memoryStore, type SluiceErrorCode } from 'sluice'
import { type ExpressOptions, rateLimit } from 'sluice/express'
import { onTestFinished } from 'vitest'
import type { RunningApp } from '../adapters/app.js'
import { serve } from '../adapters/servers.js'

export type Options = ExpressOptions<IncomingMessage, ServerResponse>

export type Handle = (request: IncomingMessage, response: ServerResponse) => void

/** The answer of a server whose limiter could not decide. */
export interface Failure {
  readonly code: SluiceErrorCode
  readonly message: string
}

export interface LimitedServer extends RunningApp {
  /** The URLs that came to the handler. */
  readonly handled: string[]
}

/** A server of `node:http` behind middleware of Connect, until the test is over. Errors of limiter and handler are answered with 500. */
export async function limitedServer(
  options: Options,
  handle: Handle = (_, response) => void response.end('ok'),
): Promise<LimitedServer> {
  const limited = rateLimit(options)
  const handled: string[] = []
  const app = await serve((request, response) => {
    const fail = (error: unknown) => {
      const { code, message } = error as Failure
      response.statusCode = 500
      response.end(JSON.stringify({ code, message }))
    }
    limited(request, response, (error) => {
      if (error !== undefined) return fail(error)
      handled.push(request.url ?? '')
      try {
        handle(request, response)
      } catch (thrown) {
        fail(thrown)
      }
    })
  })
  onTestFinished(() => app.close())
  return { ...app, handled }
}

/** The status of a request with these fields. */
export async function statusOf({ origin }: RunningApp, headers: Record<string, string> = {}, path = '/') {
  const response = await fetch(`${origin}${path}`, { headers })
  await response.arrayBuffer()
  return response.status
}

/** Sends a request as it is written, because clients would correct it. `from` is another loopback address. */
export async function raw(
  { port }: RunningApp,
  line: string,
  fields: readonly string[] = [],
  from = '127.0.0.1',
): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from })
  await once(socket, 'connect')
  socket.write([`${line} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...fields, '', ''].join('\r\n'))
  let text = ''
  for await (const chunk of socket) text += chunk
  return text
}

/** The status of a response as it is written. */
export function statusIn(response: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(response)?.[1])
}

/** A memory store that answers when `open` has been called, and tells when it was asked. */
export function waitingStore() {
  const store = memoryStore()
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  let asked = 0
  const later = (name: 'decide' | 'peek' | 'charge' | 'refund' | 'set' | 'reset' | 'block') =>
    (async (...given: never[]) => {
      asked++
      await opened
      return Reflect.apply(store[name], store, given)
    }) as never
  const waiting: AsyncStore = {
    decide: later('decide'),
    peek: later('peek'),
    charge: later('charge'),
    set: later('set'),
    refund: later('refund'),
    reset: later('reset'),
    block: later('block'),
  }
  return { store: waiting, open: () => open(), asked: () => asked }
}

/** Uncaught errors, from now until the test is over. */
export function strayErrors(): unknown[] {
  const errors: unknown[] = []
  const collect = (error: unknown) => errors.push(error)
  for (const event of ['unhandledRejection', 'uncaughtException'] as const) {
    process.on(event, collect)
    onTestFinished(() => void process.off(event, collect))
  }
  return errors
}

/** Codes and messages of process warnings, from now until the test is over. They are not printed. */
export function processWarnings(): [code: string | undefined, message: string][] {
  const warnings: [string | undefined, string][] = []
  const collect = (warning: Error & { code?: string }) => warnings.push([warning.code, warning.message])
  const others = process.listeners('warning')
  process.removeAllListeners('warning')
  process.on('warning', collect)
  onTestFinished(async () => {
    await settled()
    process.off('warning', collect)
    for (const other of others) process.on('warning', other)
  })
  return warnings
}

/** Long enough for events that are on their way inside this process. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
}
