import { FrameHistory } from './frame-history.js'
import type { LiveDemo, LiveLevels, LivePolicy, LiveStore } from './live-events.js'
import type { LiveNews } from './live-news.js'

/** What one worker knows of all workers, so that it can tell a client at once. It hears the news of each second. */
export class LiveBoard {
  #levels: LiveLevels
  #history = new FrameHistory()
  #store: LiveStore | undefined
  #demo: LiveDemo | undefined
  #policy: LivePolicy = { problems: 0 }
  /** By level: how many clients watch its top keys. */
  readonly #watched = new Map<string, number>()
  readonly #listeners = new Set<(news: LiveNews) => void>()

  constructor(levels: LiveLevels) {
    this.#levels = levels
  }

  get levels(): LiveLevels {
    return this.#levels
  }

  get history(): FrameHistory {
    return this.#history
  }

  get store(): LiveStore | undefined {
    return this.#store
  }

  get demo(): LiveDemo | undefined {
    return this.#demo
  }

  get policy(): LivePolicy {
    return this.#policy
  }

  /** The levels whose top keys clients watch. */
  get watched(): readonly string[] {
    return [...this.#watched.keys()]
  }

  hear(news: LiveNews): void {
    const { levels, past, second, ten, store, demo, policy } = news
    if (levels !== undefined) this.#levels = levels
    if (past !== undefined) {
      this.#history = new FrameHistory()
      for (const frame of past.seconds) this.#history.addSecond(frame)
      for (const frame of past.tens) this.#history.addTen(frame)
    }
    if (second !== undefined) this.#history.addSecond(second)
    if (ten !== undefined) this.#history.addTen(ten)
    if (store !== undefined) this.#store = store
    if (demo !== undefined) this.#demo = demo
    if (policy !== undefined) this.#policy = policy
    for (const listener of [...this.#listeners]) listener(news)
  }

  /** Calls `listener` with all news from now on. */
  listen(listener: (news: LiveNews) => void): void {
    this.#listeners.add(listener)
  }

  /** A client watches the top keys of a level, until the returned function is called. */
  watch(level: string): () => void {
    this.#watched.set(level, (this.#watched.get(level) ?? 0) + 1)
    return () => {
      const left = (this.#watched.get(level) ?? 0) - 1
      if (left > 0) this.#watched.set(level, left)
      else this.#watched.delete(level)
    }
  }
}
