import type {
  LiveDemo,
  LiveFrame,
  LiveHello,
  LivePolicy,
  LiveRequest,
  LiveService,
  LiveStore,
  LiveTopKeys,
} from '../../../service/src/live/live-events.js'
import { PageHistory } from './page-history.js'
import type { LinkState, LiveEvent } from './stream-link.js'

/** Where nothing is shown because nothing came yet. */
export const WAITING = 'Nothing came from the service yet.'

/** What changes: a part of the view listens to what it shows. */
export type Topic = 'link' | 'hello' | 'frame' | 'store' | 'keys' | 'requests' | 'demo' | 'policy'

/** Everything that the view shows of the service. */
export interface LiveScene {
  readonly service?: LiveService
  readonly history: PageHistory
  readonly frame?: LiveFrame | undefined
  readonly store?: LiveStore
  readonly keys?: LiveTopKeys
  /** The newest first. */
  readonly requests: readonly LiveRequest[]
}

const KEPT_REQUESTS = 50

/** Takes in the events of the stream, and tells the parts of the view what has changed. It does not draw and has no clock. */
export class LiveModel {
  link: LinkState = { kind: 'connecting' }
  demo: LiveDemo | undefined
  policy: LivePolicy = { problems: 0 }
  #live: LiveScene = { history: new PageHistory(), requests: [] }
  #frozen: LiveScene | undefined
  #isPaused = false
  readonly #listeners = new Map<() => void, readonly Topic[]>()

  /** What is shown: the last that came, or what there was when the view was paused. */
  get scene(): LiveScene {
    return this.#frozen ?? this.#live
  }

  /** Calls `listener` after a change of one of the topics, until the function that is returned is called. */
  listen(topics: readonly Topic[], listener: () => void): () => void {
    this.#listeners.set(listener, topics)
    return () => this.#listeners.delete(listener)
  }

  /** While paused, events are still taken in: nothing is missing after the pause. */
  setPaused(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return
    this.#isPaused = isPaused
    this.#frozen = undefined
    this.#freezeIfWhole()
    this.#tell('hello', 'frame', 'store', 'keys', 'requests')
  }

  /** The token has changed: keys and requests are gone, also from a paused view, which pauses again when others have come. */
  forgetKeys(): void {
    const { keys, ...others } = this.#live
    this.#live = { ...others, requests: [] }
    this.#frozen = undefined
    this.#tell('hello', 'frame', 'store', 'keys', 'requests')
  }

  setLink(link: LinkState): void {
    this.link = link
    this.#tell('link')
  }

  setDemo(demo: LiveDemo): void {
    this.demo = demo
    this.#tell('demo')
  }

  take(event: LiveEvent): void {
    if (event.name === 'hello') this.#startOver(event.data)
    else if (event.name === 'levels') this.#change({ history: this.#withLevels(event.data) }, 'hello')
    else if (event.name === 'frame') this.#addFrame(event.data)
    else if (event.name === 'store') this.#change({ store: event.data }, 'store')
    else if (event.name === 'keys') this.#change({ keys: event.data }, 'keys')
    else if (event.name === 'requests') this.#addRequests(event.data)
    else if (event.name === 'demo') this.setDemo(event.data)
    else if (event.name === 'policy') this.#setPolicy(event.data)
  }

  #startOver(hello: LiveHello): void {
    const history = PageHistory.of(hello)
    this.demo = hello.demo
    this.policy = hello.policy
    this.#live = { service: hello.service, history, frame: hello.seconds.at(-1), requests: [] }
    this.#tell('hello', 'frame', 'store', 'keys', 'requests', 'demo', 'policy')
  }

  #setPolicy(policy: LivePolicy): void {
    this.policy = policy
    this.#tell('policy')
  }

  #withLevels(levels: LiveHello['levels']): PageHistory {
    this.#live.history.useLevels(levels)
    return this.#live.history
  }

  #addFrame(frame: LiveFrame): void {
    this.#live.history.add(frame)
    this.#change({ frame }, 'frame')
    this.#freezeIfWhole()
  }

  /** Requests that are new go before those that are known. */
  #addRequests(requests: readonly LiveRequest[]): void {
    const known = new Set(this.#live.requests.map(({ id }) => id))
    const fresh = requests.filter(({ id }) => !known.has(id)).sort((a, b) => b.atMs - a.atMs)
    if (fresh.length === 0) return
    this.#change({ requests: [...fresh, ...this.#live.requests].slice(0, KEPT_REQUESTS) }, 'requests')
  }

  #change(part: Partial<LiveScene>, topic: Topic): void {
    this.#live = { ...this.#live, ...part }
    if (this.#frozen === undefined) this.#tell(topic)
  }

  /** A page that opens paused shows what there is once every part has something to show. */
  #freezeIfWhole(): void {
    const { frame, store, keys, history } = this.#live
    if (!this.#isPaused || this.#frozen !== undefined || !frame || !store || !keys) return
    this.#frozen = { ...this.#live, history: history.copy() }
  }

  #tell(...topics: readonly Topic[]): void {
    for (const [listener, heard] of this.#listeners) if (heard.some((topic) => topics.includes(topic))) listener()
  }
}
