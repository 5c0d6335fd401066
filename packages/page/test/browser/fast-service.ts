import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { pageDoor } from '../../../service/dist/doors/page-door.js'
import { HttpServer } from '../../../service/dist/server/http-server.js'
import type { LiveEvents, LiveFrame } from '../../../service/src/live/live-events.js'

/** The page of a service whose time runs as fast as the page can read. */
export interface FastService {
  readonly url: string
  /** Sends so many seconds of a busy service. Resolves with the end of the last one when all are on the way. */
  pass(seconds: number): Promise<Date>
}

const START_MS = Date.UTC(2026, 0, 1)
const KEYS = 20

/** Serves the page, and a stream of 2,000 decisions a second over these levels. It is closed when the test has finished. */
export async function startFastService(levels: readonly string[]): Promise<FastService> {
  let listen: (response: ServerResponse) => void
  const listener = new Promise<ServerResponse>((resolve) => {
    listen = resolve
  })
  const live = {
    name: 'live',
    routes: {
      'GET /v1/live': ({ query, response }: { readonly query: string; readonly response: ServerResponse }) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const level = new URLSearchParams(query).get('level')
        if (level !== null) {
          response.write(eventText('keys', keysAt(0, START_MS, level)))
          return
        }
        response.write(eventText('hello', helloOf(levels)))
        listen(response)
      },
    },
  }
  const server = new HttpServer([pageDoor(), live], { fault: (error) => console.error(error) })
  await server.listen('127.0.0.1', 0)
  onTestFinished(() => server.close(0))
  let second = 0
  return {
    url: server.url,
    async pass(seconds) {
      const response = await listener
      for (const end = second + seconds; second < end; second++)
        if (!response.write(eventsOf(second, levels))) await once(response, 'drain')
      return new Date(timeOf(second - 1))
    },
  }
}

function helloOf(levels: readonly string[]): LiveEvents['hello'] {
  const service = { version: '0.1.0', host: 'tested', pid: 1, startedMs: START_MS, workers: 1, store: 'memory' }
  const settings = { isExample: false, hasAdmin: true, isAdmin: true, attributes: ['merchant'] }
  return {
    service: { ...service, ...settings },
    levels: {
      version: 1,
      policy: 'tested',
      levels: levels.map((name) => ({ name, limits: [{ algorithm: 'unlimited' }] })),
    },
    policy: { problems: 0 },
    seconds: [],
    tens: [],
  }
}

function timeOf(second: number): number {
  return START_MS + second * 1_000
}

/** What a service says in one second. */
function eventsOf(second: number, levels: readonly string[]): string {
  const atMs = timeOf(second)
  const texts = [
    eventText('frame', frameAt(second, atMs, levels.length)),
    eventText('requests', requestsAt(second, atMs)),
  ]
  if (second % 2 === 0) texts.push(eventText('keys', keysAt(second, atMs, levels[0])))
  const figures = [{ name: 'keys', value: 1_000 + (second % 100), unit: '' as const }]
  return [...texts, eventText('store', { kind: 'memory', state: 'well', text: 'The store is well.', figures })].join('')
}

function frameAt(second: number, atMs: number, levels: number): LiveFrame {
  const denied = (second * 37) % 400
  const counts = Array.from({ length: levels }, (_, level) => [2_000 - denied, level === 0 ? denied : 0, 0, 0]).flat()
  // The first second of a process is slow.
  const waits = { p50Ms: 0.01, p99Ms: second === 0 ? 120 : 0.1 + (second % 10) / 100, worstDelayMs: 1 }
  const totals = { atMs, elapsedMs: 1_000, allowed: 2_000 - denied, denied, errors: 0, degraded: 0 }
  return { ...totals, ...waits, workers: 1, version: 1, levels: counts }
}

/** Every request has a value that was never there before. */
function requestsAt(second: number, atMs: number): LiveEvents['requests'] {
  const request = { allowed: true, deniedBy: [], degraded: false, cost: 1 }
  return [0, 1, 2].map((each) => ({
    ...request,
    id: `${second}-${each}`,
    atMs,
    attributes: { merchant: `acct_${second}_${each}` },
  }))
}

function keysAt(second: number, atMs: number, level: string): LiveEvents['keys'] {
  const keys = Array.from({ length: KEYS }, (_, place) => ({
    level,
    key: `acct_${second + place}`,
    count: 1_000 - place,
    error: 0,
  }))
  return { sinceMs: atMs - 60_000, byLoad: keys, byDenials: keys }
}

function eventText<Name extends keyof LiveEvents>(name: Name, data: LiveEvents[Name]): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}
