import { hostname } from 'node:os'
import { systemClock } from 'sluice'
import type { LiveService } from '../live/live-events.js'
import { ALL_LEVELS } from '../live/live-sample.js'
import { type LiveView, NewsTexts } from '../live/news-texts.js'
import { VERSION } from '../recorder/service-recorder.js'
import type { DecisionService } from '../serve/decision-service.js'
import type { ServeOptions } from '../serve/serve-options.js'
import type { Door } from '../server/door.js'
import type { Exchange } from '../server/exchange.js'
import { badRequest } from '../server/problem.js'
import type { AdminAccess } from './admin-access.js'
import { EventStreams, type SendEvent } from './event-streams.js'
import { readQuery } from './read-query.js'

/** The history is sent in pieces of about this size, each when the client has read the one before. */
const PIECE_CHARACTERS = 64 * 1024

/** What stays the same while the service runs. */
export type AboutService = Omit<LiveService, 'isAdmin' | 'attributes'>

/** What a person is told about a service with these options. `store` is without its password. */
export function aboutService(options: ServeOptions, store: string): AboutService {
  const { policy, envoyConfig, adminToken, workers, fleet } = options
  return {
    version: VERSION,
    host: hostname(),
    pid: fleet?.pid ?? process.pid,
    startedMs: Math.round(fleet?.startedMs ?? systemClock.now()),
    workers,
    store,
    isExample: policy === undefined && envoyConfig === undefined,
    hasAdmin: adminToken !== undefined,
  }
}

/**
 * `GET /v1/live`: what the service does, second by second, for its page. It needs no token, so keys are masked without one.
 * Clients with the token have streams of their own: others cannot take all of them.
 */
export function liveDoor(service: DecisionService, access: AdminAccess, about: AboutService): Door {
  const { board, recents } = service.recorder
  // Always: a person opens the page after something has happened.
  recents.sampling(true)
  const streams = { admin: new EventStreams(), open: new EventStreams() }
  const clients = new Map<SendEvent, LiveView>()
  board.listen((news) => {
    const texts = new NewsTexts(news, service.keyMask)
    for (const [send, view] of clients) {
      const text = texts.textFor(view)
      if (text !== '') send(text)
    }
  })
  const live = (exchange: Exchange) => {
    const isAdmin = access.isAdmin(exchange)
    const view = { isAdmin, ...readWanted(exchange, service) }
    const first = firstEvents(service, view, { ...about, isAdmin, attributes: service.file.attributes })
    const unwatch = board.watch(view.level)
    try {
      const send = streams[isAdmin ? 'admin' : 'open'].begin(
        exchange,
        () => {
          clients.delete(send)
          unwatch()
        },
        first,
      )
      clients.set(send, view)
    } catch (error) {
      unwatch()
      throw error
    }
  }
  return {
    name: 'live',
    routes: { 'GET /v1/live': live },
    close: () => {
      streams.admin.close()
      streams.open.close()
    },
  }
}

function readWanted({ query }: Exchange, service: DecisionService): Pick<LiveView, 'level' | 'isKeysOnly'> {
  const { level, events } = readQuery(query, ['level', 'events'])
  if (events !== undefined && events !== 'keys')
    throw badRequest(`events must be keys, or absent for all events, got '${events.slice(0, 60)}'`)
  return { level: level === undefined ? ALL_LEVELS : readLevel(level, service), isKeysOnly: events === 'keys' }
}

function readLevel(level: string, { file }: DecisionService): string {
  const names = file.policy.levels.map(({ name }) => name)
  if (names.includes(level)) return level
  const shown = names.length > 10 ? `${names.slice(0, 10).join(', ')} and ${names.length - 10} more` : names.join(', ')
  throw badRequest(`level must be a level of the policy, got '${level.slice(0, 60)}'; the policy has ${shown}`)
}

/** The first event with the history, and then the latest of everything else. Top keys are not kept: the next ones come soon. */
function* firstEvents({ recorder, keyMask }: DecisionService, view: LiveView, about: LiveService): Iterable<string> {
  if (view.isKeysOnly) return
  const { levels, policy, demo, history, store } = recorder.board
  // Copies: the lists change while the client reads.
  const [seconds, tens] = [[...history.seconds], [...history.tens]]
  const recent = recorder.recents.all
  const members = { service: about, levels, policy, ...(demo !== undefined && { demo }) }
  yield `event: hello\ndata: ${JSON.stringify(members).slice(0, -1)},"seconds":[`
  yield* inPieces(seconds)
  yield '],"tens":['
  yield* inPieces(tens)
  yield ']}\n\n'
  const others = { ...(store !== undefined && { store }), ...(recent.length > 0 && { requests: recent }) }
  yield new NewsTexts(others, keyMask).textFor(view)
}

/** Values of a JSON list in larger texts. */
function* inPieces(values: readonly string[]): Iterable<string> {
  let piece = ''
  for (const [i, value] of values.entries()) {
    piece += i === 0 ? value : `,${value}`
    if (piece.length < PIECE_CHARACTERS) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}
