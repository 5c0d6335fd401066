import { readFileSync } from 'node:fs'
import { type AsyncStore, type SyncStore, systemClock } from 'sluice'
import { createRecorder, PrometheusText, type Recorder, writeDecisions } from 'sluice/metrics'
import { RecentRequests } from '../live/recent-requests.js'
import { ThreadStore } from '../serve/threads/thread-store.js'
import { DoorCounts } from './door-counts.js'
import { LiveSummary } from './live-summary.js'
import { ProcessFigures, writeProcess } from './process-figures.js'
import { storeHealth, writeStoreHealth } from './store-health.js'
import { TopKeys } from './top-keys.js'

const TICK_MS = 1_000
const MANIFEST = new URL('../../package.json', import.meta.url)
const { version: VERSION } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as { readonly version: string }

/**
 * Everything that the service knows about itself: decisions, doors, store, process, top keys, and a summary once a second.
 * It counts all decisions of this process, so a process with two services has two recorders that count the same.
 */
export class ServiceRecorder {
  /** Counts of decisions, by policy, level and outcome. */
  readonly decisions: Recorder = createRecorder()
  readonly doors = new DoorCounts()
  readonly topKeys: TopKeys
  readonly summary: LiveSummary
  /** Samples requests while a client watches. */
  readonly recents = new RecentRequests()
  /** The answer to a scrape. One of several workers replaces it by a function that asks all of them. */
  scrape: () => string | Promise<string> = () => this.prometheus()
  readonly #store: SyncStore | AsyncStore
  readonly #process = new ProcessFigures()
  readonly #timer: NodeJS.Timeout
  readonly #reloads = { loaded: 0, refused: 0 }
  #loadedMs = systemClock.now()
  #server: { readonly connectionCount: number } | undefined

  constructor(store: SyncStore | AsyncStore) {
    this.#store = store
    this.topKeys = new TopKeys(systemClock.now())
    this.summary = new LiveSummary(systemClock.now())
    this.#timer = setInterval(() => this.tick(systemClock.now()), TICK_MS)
    // A service that has stopped does not keep the process alive.
    this.#timer.unref()
  }

  /** Makes a summary, and begins a new window of top keys if it is time. */
  tick(nowMs: number): void {
    this.topKeys.turn(nowMs)
    const worstDelayMs = this.#process.takeWorstDelayMs()
    this.summary.next(this.decisions.read(), { atMs: nowMs, worstDelayMs, store: storeHealth(this.#store) })
  }

  /** Tells the connections of this server from now on. */
  watch(server: { readonly connectionCount: number }): void {
    this.#server = server
  }

  /** The policy was read again. `refused`: it had problems, and the last good one stays. */
  reloaded(result: 'loaded' | 'refused'): void {
    this.#reloads[result]++
    if (result === 'loaded') this.#loadedMs = systemClock.now()
  }

  /** Everything but the top keys, of this process or thread: a key is never a label. */
  prometheus(): string {
    const text = new PrometheusText()
    const health = storeHealth(this.#store)
    const facts = { version: VERSION, store: health.kind }
    text.metric('sluice_info', 'gauge', 'The version of the service and the kind of its store.').sample(facts, 1)
    writeDecisions(text, this.decisions.read())
    this.doors.write(text, this.#server?.connectionCount ?? 0)
    // The first thread writes what is the same in all threads.
    const isOneOfThreads = this.#store instanceof ThreadStore
    if (!isOneOfThreads) writeStoreHealth(text, health)
    text.metric('sluice_policy_reloads_total', 'counter', 'How often the policy was read again, by result.')
    for (const [result, count] of Object.entries(this.#reloads)) text.sample({ result }, count)
    const help = 'When the policy in force was loaded, in epoch seconds.'
    text.metric('sluice_policy_loaded_timestamp_seconds', 'gauge', help).sample({}, this.#loadedMs / 1_000)
    if (!isOneOfThreads) writeProcess(text)
    this.#process.write(text)
    return text.toString()
  }

  close(): void {
    clearInterval(this.#timer)
    this.decisions.close()
    this.topKeys.close()
    this.recents.sampling(false)
    this.#process.close()
  }
}
