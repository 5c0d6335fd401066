import type { Limit } from 'sluice'
import type { PolicyFile } from '../policy-file/parse-policy-file.js'
import { FrameHistory } from './frame-history.js'
import { FrameSum } from './frame-sum.js'
import type { LiveLevels, LiveStore } from './live-events.js'
import type { LiveNews } from './live-news.js'
import type { LiveSample, LiveWish } from './live-sample.js'
import { type KeysOfLevel, mergeKeys } from './merge-keys.js'
import type { RecentRequest } from './recent-requests.js'
import { mergeStores } from './store-figures.js'

/** Frames in one of the older part of the history. */
const FRAMES_OF_A_TEN = 10
/** How many allowed requests, and how many denied ones, are told a second. */
const MOST_REQUESTS = 10

/** Makes the news of each second from the samples of all workers. It runs once for each service. */
export class LiveMaker {
  readonly #history = new FrameHistory()
  readonly #second: FrameSum
  readonly #ten: FrameSum
  #levels: LiveLevels
  /** The levels, if they have changed since the last news. */
  #changed: LiveLevels | undefined
  #rounds = 0
  #stores = new Map<number, LiveStore>()
  /** What clients watched in the last second, and what the samples of this one have said so far. */
  #watched = new Set<string>()
  #watching = new Set<string>()
  /** The levels whose top keys were told in the last second. */
  #told: ReadonlySet<string> = new Set()
  #keys: KeysOfLevel[] = []
  #requests: RecentRequest[] = []

  constructor(file: PolicyFile, nowMs: number) {
    this.#levels = liveLevels(file, 1)
    this.#second = new FrameSum(this.#levels, nowMs)
    this.#ten = new FrameSum(this.#levels, nowMs)
  }

  /** Another policy is in force. */
  use(file: PolicyFile): void {
    this.#levels = liveLevels(file, this.#levels.version + 1)
    this.#changed = this.#levels
    this.#second.use(this.#levels)
    this.#ten.use(this.#levels)
  }

  /** What the next samples should have: the top keys that clients watch and that were not told last time. */
  get wish(): LiveWish {
    return { isWatched: this.#watched.size > 0, keysOf: [...this.#watched].filter((level) => !this.#told.has(level)) }
  }

  /** Everything so far, for a worker that has just started. */
  get past(): LiveNews {
    const { seconds, tens } = this.#history
    return { levels: this.#levels, past: { seconds, tens } }
  }

  /** A worker tells what it saw. One that comes too late for its second counts in the next. */
  add(worker: number, { change, worstDelayMs, store, watched, keys, requests }: LiveSample): void {
    this.#second.add(worker, change, worstDelayMs)
    this.#ten.add(worker, change, worstDelayMs)
    this.#stores.set(worker, store)
    for (const level of watched) this.#watching.add(level)
    this.#keys.push(...keys)
    this.#requests.push(...requests)
  }

  /** Ends a second. Call it after the samples were added that `wish` was for. */
  make(nowMs: number): LiveNews {
    this.#rounds++
    const second = JSON.stringify(this.#second.take(nowMs))
    this.#history.addSecond(second)
    const ten = this.#rounds % FRAMES_OF_A_TEN === 0 ? JSON.stringify(this.#ten.take(nowMs)) : undefined
    if (ten !== undefined) this.#history.addTen(ten)
    const levels = new Set(this.#keys.map(({ level }) => level))
    const news: LiveNews = {
      ...(this.#changed && { levels: this.#changed }),
      second,
      ...(ten !== undefined && { ten }),
      ...(this.#stores.size > 0 && { store: mergeStores([...this.#stores.values()]) }),
      ...(levels.size > 0 && {
        keys: [...levels].map((of) => ({ of, top: mergeKeys(this.#keys.filter(({ level }) => level === of)) })),
      }),
      ...(this.#requests.length > 0 && { requests: this.#lastRequests() }),
    }
    this.#changed = undefined
    this.#told = levels
    this.#watched = this.#watching
    this.#watching = new Set()
    this.#stores = new Map()
    this.#keys = []
    this.#requests = []
    return news
  }

  #lastRequests(): readonly RecentRequest[] {
    const inOrder = this.#requests.sort((a, b) => a.atMs - b.atMs)
    const [allowed, denied] = [inOrder.filter((each) => each.allowed), inOrder.filter((each) => !each.allowed)]
    return [...allowed.slice(-MOST_REQUESTS), ...denied.slice(-MOST_REQUESTS)].sort((a, b) => a.atMs - b.atMs)
  }
}

/** The levels of a policy for a person. */
export function liveLevels({ policy }: PolicyFile, version: number): LiveLevels {
  return {
    version,
    policy: policy.name ?? 'default',
    levels: policy.levels.map(({ name, limit, shadow }) => ({
      name,
      limits: [limit].flat() as Limit[],
      ...(shadow === true && { shadow }),
    })),
  }
}
