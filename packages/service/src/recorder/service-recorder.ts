import { readFileSync } from 'node:fs'
import { type AsyncStore, type SyncStore, systemClock } from 'sluice'
import { createRecorder, PrometheusText, type Recorder, writeDecisions } from 'sluice/metrics'
import { RuleCounts } from '../envoy-rules/rule-counts.js'
import { LiveBoard } from '../live/live-board.js'
import { LiveMaker, liveLevels } from '../live/live-maker.js'
import type { LiveSample, LiveWish } from '../live/live-sample.js'
import { RecentRequests } from '../live/recent-requests.js'
import { StoreFigures } from '../live/store-figures.js'
import type { PolicyFile } from '../policy-file/parse-policy-file.js'
import type { ServedPolicy } from '../serve/served-policy.js'
import { ThreadStore } from '../serve/threads/thread-store.js'
import { DecisionChanges, type LevelChange } from './decision-changes.js'
import { DoorCounts } from './door-counts.js'
import { LiveSummary } from './live-summary.js'
import { ProcessFigures, writeProcess } from './process-figures.js'
import { storeHealth, writeStoreHealth } from './store-health.js'
import { TopKeys } from './top-keys.js'
import { writeEnvoyCalls } from './write-envoy-calls.js'

const TICK_MS = 1_000
/** Limiters, policies and levels that are told apart: room for large policies, and for levels that reloads bring. */
const MOST_SERIES = 10_000
/** The only worker of a service without `--workers`. */
const ALONE = 1
const MANIFEST = new URL('../../package.json', import.meta.url)
/** The version of the service. */
export const { version: VERSION } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as { readonly version: string }

/**
 * Everything that the service knows about itself: decisions, doors, store, process, top keys, and a summary once a second.
 * It counts all decisions of this process, so a process with two services has two recorders that count the same.
 */
export class ServiceRecorder {
  /** Counts of decisions, by policy, level and outcome. */
  readonly decisions: Recorder = createRecorder({ maxSeries: MOST_SERIES })
  readonly doors = new DoorCounts()
  /** Counts of hits under the names of envoyproxy/ratelimit, if its rules are in force. */
  readonly rules = new RuleCounts()
  readonly topKeys: TopKeys
  readonly summary = new LiveSummary()
  /** Samples requests if the page is on. Has those of all workers. */
  readonly recents = new RecentRequests()
  /** What all workers together do, second by second. */
  readonly board: LiveBoard
  /** The answer to a scrape. One of several workers replaces it by a function that asks all of them. */
  scrape: () => string | Promise<string> = () => this.prometheus()
  readonly #store: SyncStore | AsyncStore
  readonly #process = new ProcessFigures()
  readonly #changes: DecisionChanges
  readonly #figures: StoreFigures
  /** Absent from one of several workers: the first process or thread has it, and asks for samples. */
  readonly #maker: LiveMaker | undefined
  readonly #timer: NodeJS.Timeout | undefined
  readonly #reloads = { loaded: 0, refused: 0 }
  #policy: string
  #hasRules: boolean
  #loadedMs = systemClock.now()
  #server: { readonly connectionCount: number } | undefined
  #grpc: { readonly connections: number } | undefined

  /** `isWorker`: is it one of several workers? */
  constructor(store: SyncStore | AsyncStore, file: ServedPolicy, isWorker = false) {
    const nowMs = systemClock.now()
    this.#store = store
    this.topKeys = new TopKeys(nowMs)
    this.#changes = new DecisionChanges(nowMs)
    this.#figures = new StoreFigures(nowMs)
    this.#policy = nameOf(file)
    this.#hasRules = file.envoy !== undefined
    this.recents.attributes = file.attributes
    this.board = new LiveBoard(liveLevels(file, isWorker ? 0 : 1))
    this.board.listen(({ requests = [] }) => this.recents.add(requests))
    if (isWorker) return
    this.#maker = new LiveMaker(file, nowMs)
    this.#timer = setInterval(() => this.tick(systemClock.now()), TICK_MS)
    // A service that has stopped does not keep the process alive.
    this.#timer.unref()
  }

  /** Ends a second of a service without other workers. */
  tick(nowMs: number): void {
    const maker = this.#maker
    if (maker === undefined) return
    maker.add(ALONE, this.sample(nowMs, maker.wish))
    this.board.hear(maker.make(nowMs))
  }

  /** What this worker saw since the last sample. Also makes its summary, and begins a new window of top keys if it is time. */
  sample(nowMs: number, { isWatched, keysOf }: LiveWish): LiveSample {
    const change = this.#changes.next(this.decisions.read(), nowMs)
    const store = storeHealth(this.#store)
    const worstDelayMs = this.#process.takeWorstDelayMs()
    this.summary.next(change, { worstDelayMs, store })
    this.topKeys.turn(nowMs)
    if (keysOf.length > 0 || !isWatched) this.topKeys.wanted = keysOf
    return {
      change: { ...change, levels: change.levels.filter(hasDecided) },
      worstDelayMs,
      store: this.#figures.next(store, nowMs),
      watched: this.board.watched,
      keys: keysOf.map((level) => this.topKeys.ofLevel(this.#policy, level)),
      requests: this.recents.take(),
    }
  }

  /** Another policy is in force. */
  use(file: ServedPolicy): void {
    this.#policy = nameOf(file)
    this.recents.attributes = file.attributes
    this.#maker?.use(file)
    this.#reloads.loaded++
    this.#loadedMs = systemClock.now()
    this.board.hear({ policy: { problems: 0 } })
  }

  /** The policy was read again and has problems: the last good one stays. */
  refuse(problems: number): void {
    this.#reloads.refused++
    this.board.hear({ policy: { problems } })
  }

  /** Tells the connections of this server from now on. */
  watch(server: { readonly connectionCount: number }): void {
    this.#server = server
  }

  /** Tells the connections of this gRPC server from now on. */
  watchGrpc(server: { readonly connections: number }): void {
    this.#grpc = server
  }

  /** Everything but the top keys, of this process or thread: a key is never a label. */
  prometheus(): string {
    const text = new PrometheusText()
    const health = storeHealth(this.#store)
    const facts = { version: VERSION, store: health.kind }
    text.metric('sluice_info', 'gauge', 'The version of the service and the kind of its store.').sample(facts, 1)
    writeDecisions(text, this.decisions.read())
    this.doors.write(text, this.#server?.connectionCount ?? 0)
    if (this.#grpc !== undefined)
      text
        .metric('sluice_grpc_connections', 'gauge', 'Connections of gRPC that are open now.')
        .sample({}, this.#grpc.connections)
    // The first thread writes what is the same in all threads.
    const isOneOfThreads = this.#store instanceof ThreadStore
    if (!isOneOfThreads) writeStoreHealth(text, health)
    text.metric('sluice_policy_reloads_total', 'counter', 'How often the policy was read again, by result.')
    for (const [result, count] of Object.entries(this.#reloads)) text.sample({ result }, count)
    const help = 'When the policy in force was loaded, in epoch seconds.'
    text.metric('sluice_policy_loaded_timestamp_seconds', 'gauge', help).sample({}, this.#loadedMs / 1_000)
    if (this.#hasRules) {
      this.rules.write(text)
      writeEnvoyCalls(text, this.doors.read('envoy'), this.#reloads)
    }
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

function nameOf({ policy }: PolicyFile): string {
  return policy.name ?? 'default'
}

function hasDecided({ allowed, denied, shadowDenied, error }: LevelChange): boolean {
  return allowed + denied + shadowDenied + error > 0
}
