/**
 * An exhaustive model of the lease protocol. Nodes, messages and time are small and discrete; the bucket is the library's own
 * `LeasedBucket`. A breadth-first search visits every state that any order of events can lead to:
 *
 * - a node spends a unit that it holds, asks for units, or returns what it holds;
 * - a message arrives late, twice or never; an answer arrives after the node has given up;
 * - a request that was given up arrives after the next one was sent: the guard lets it pass if it is the first to arrive;
 * - a node dies, and another takes its place; a request is decided directly;
 * - time passes.
 *
 * A node's clock may be slow: it spends until the last moment at which the store still counts the units. Times are kept
 * relative to now, so the states are finite although histories are not, and the search covers histories of any length.
 *
 * The law is checked by an ideal token bucket that every admission drains: it never goes below zero exactly if in every
 * interval of length T at most `capacity` + `refill`·T units were admitted.
 */
import { LeasedBucket, type LeasedState, type LeaseLot, tokenBucket } from 'sluice/limits'
import { type ModelNode, ModelNodes, type Request } from './model-node.js'

/** A time step. The lease time of every request is half of it, so a round, which is four lease times, has two. */
const STEP_US = 1_000
const LEASE_US = STEP_US / 2
const ROUND = 2
/** After so many steps a round is over, and so are all returns and leases that name it. */
const OLD = 2 * ROUND + 1

interface State {
  /** The bucket, and the steps since a round began. Times of the bucket are steps from now. */
  readonly store: StoreState
  /** Parts left in the ideal bucket. */
  readonly ideal: number
  /** In order of their numbers: nodes are alike, so their places do not matter. */
  readonly nodes: readonly ModelNode[]
}

/** States that are equal are one object, and what follows from them is computed once. */
interface StoreState {
  readonly id: number
  readonly phase: number
  readonly bucket: LeasedState
  readonly exchanges: Map<Request, Exchange>
  passed: StoreState | undefined
}

/** What the store did with a request. */
interface Exchange {
  readonly store: StoreState
  readonly granted: number
  readonly round: number
}

/** What the model is of. */
export interface ModelOptions {
  readonly nodes: number
  readonly capacity: number
  /** How many steps a unit takes to come back. */
  readonly stepsPerUnit: number
  /** How many nodes may have a message on its way at the same time. Default: all. */
  readonly mostUnderway?: number
  /** May a request that was given up arrive after the next one was sent? If not, it is lost then. */
  readonly overtaking?: boolean
  /**
   * A mistake that the model must find: the store forgets held units a step early, takes returns of copies too, or refills
   * beside held units; the clocks of nodes are slower than the margin, so that they spend until a unit has come back.
   */
  readonly mistake?: 'forgets early' | 'counts copies' | 'refills beside held units' | 'slow node'
}

/** The outcome of a search. */
export interface ModelResult {
  readonly states: number
  /** The events that led to a broken law, if any did. */
  readonly broken: readonly string[] | undefined
}

/** How the search came to a state. */
interface Visit {
  readonly state: State
  readonly before: Visit | undefined
  readonly event: string
}

/**
 * Of two states that differ only in the ideal bucket, the one with less in it breaks the law whenever the other does. So the
 * search goes on only from the lowest that it has seen.
 */
export function searchLeases(options: ModelOptions): ModelResult {
  const model = new Model(options)
  const start = model.start()
  const first: Visit = { state: start, before: undefined, event: '' }
  const seen = new Map<string, Visit>([[keyOf(start), first]])
  let broken: readonly string[] | undefined
  let front: Visit[] = [first]
  while (front.length > 0 && broken === undefined) {
    const next: Visit[] = []
    for (const before of front) {
      // A lower one may have been seen since.
      if (seen.get(keyOf(before.state)) !== before) continue
      model.steps(before.state, (event, state) => {
        if (state.ideal < 0) broken ??= [...eventsTo(before), event]
        const key = keyOf(state)
        const known = seen.get(key)
        if (known !== undefined && known.state.ideal <= state.ideal) return
        const visit = { state, before, event }
        seen.set(key, visit)
        next.push(visit)
      })
    }
    front = next
  }
  return { states: seen.size, broken }
}

function eventsTo(visit: Visit): string[] {
  const events: string[] = []
  for (let each = visit; each.before !== undefined; each = each.before) events.unshift(each.event)
  return events
}

class Model {
  readonly #bucket: LeasedBucket
  readonly #options: ModelOptions
  readonly #nodes: ModelNodes
  readonly #stores = new Map<string, StoreState>()

  constructor(options: ModelOptions) {
    this.#options = options
    this.#nodes = new ModelNodes({ capacity: options.capacity, oldSteps: OLD, overtaking: options.overtaking ?? false })
    this.#bucket = new LeasedBucket(
      tokenBucket({ capacity: options.capacity, refill: `1/${options.stepsPerUnit * (STEP_US / 1_000)}ms` }),
    )
  }

  start(): State {
    const nodes = Array.from({ length: this.#options.nodes }, () => this.#nodes.start())
    return { store: this.#storeOf(0, this.#bucket.start(0)), ideal: this.#bucket.full, nodes }
  }

  /** Tells every event that may come next, and the state after it. */
  steps(state: State, tell: (event: string, to: State) => void): void {
    tell('time passes', this.#pass(state))
    const { partsPerUnit } = this.#bucket
    const { store, ideal, nodes } = state
    if (store.bucket.tokens >= partsPerUnit) {
      const bucket = { ...store.bucket, tokens: store.bucket.tokens - partsPerUnit }
      tell('a request is decided directly', {
        store: this.#storeOf(store.phase, bucket),
        ideal: ideal - partsPerUnit,
        nodes,
      })
    }
    let underway = 0
    for (const { hasMessage } of nodes) if (hasMessage) underway++
    for (const [i, node] of nodes.entries()) {
      // Nodes in the same state do the same.
      if (i > 0 && node === nodes[i - 1]) continue
      for (const { event, to, admits } of node.events())
        tell(`node ${i} ${event}`, {
          store,
          ideal: admits ? ideal - partsPerUnit : ideal,
          nodes: withNode(nodes, i, to),
        })
      if (node.orphan !== undefined || underway < (this.#options.mostUnderway ?? Infinity))
        for (const { event, to } of node.asks())
          tell(`node ${i} ${event}`, { store, ideal, nodes: withNode(nodes, i, to) })
      const { request, orphan } = node
      if (request !== undefined) tell(`the request of node ${i} arrives`, this.#arrive(state, i, request))
      if (orphan !== undefined) {
        const { store: after } = this.#exchange(store, orphan)
        tell(`the request that node ${i} gave up arrives`, {
          store: after,
          ideal,
          nodes: withNode(nodes, i, node.forgotten()),
        })
      }
    }
  }

  #pass({ store, ideal, nodes }: State): State {
    store.passed ??= this.#storeAfter(store)
    return {
      store: store.passed,
      ideal: Math.min(this.#bucket.full, ideal + STEP_US * this.#bucket.partsPerUs),
      nodes: nodes.map((node) => node.passed()).sort(byId),
    }
  }

  #storeAfter({ phase, bucket: before }: StoreState): StoreState {
    const { mistake } = this.#options
    const bucket = copyOf(before)
    shift(bucket, -STEP_US)
    if (mistake === 'forgets early') changeLots(bucket, (lot) => (lot.untilUs <= STEP_US ? { ...lot, held: 0 } : lot))
    this.#bucket.advance(bucket, 0)
    if (mistake === 'refills beside held units')
      bucket.tokens = Math.min(this.#bucket.full, before.tokens + STEP_US * this.#bucket.partsPerUs)
    changeLots(bucket, (lot) => (lot.held === 0 ? { ...lot, untilUs: 0 } : lot))
    return this.#storeOf((phase + 1) % ROUND, bucket)
  }

  #arrive({ store, ideal, nodes }: State, i: number, request: Request): State {
    const { mistake, stepsPerUnit } = this.#options
    const { store: after, granted, round } = this.#exchange(store, request)
    // The node counts from the moment it sent the request, and its clock is as slow as it may be, or slower.
    const until = round - request.age + (mistake === 'slow node' ? 1 + stepsPerUnit : 0)
    return { store: after, ideal, nodes: withNode(nodes, i, nodes[i].arrived({ granted, round, until })) }
  }

  #exchange(store: StoreState, request: Request): Exchange {
    let known = store.exchanges.get(request)
    if (known === undefined) {
      known = this.#exchangeNow(store, request)
      // A copy of the request arrives as well: its number is not above the last one, so the store ignores it.
      if (this.#options.mistake === 'counts copies')
        known = { ...known, store: this.#exchangeNow(known.store, { ...request, want: 0 }).store }
      store.exchanges.set(request, known)
    }
    return known
  }

  #exchangeNow({ phase, bucket: before }: StoreState, { want, returns }: Request): Exchange {
    // The bucket's rounds begin on multiples of their length, so it is asked at a time with the right phase.
    const nowUs = (ROUND + phase) * STEP_US
    const bucket = copyOf(before)
    shift(bucket, nowUs)
    const named = returns.map(({ round, spent, unspent }) => ({ roundUs: round * STEP_US + nowUs, spent, unspent }))
    const { granted, roundUs } = this.#bucket.exchange(bucket, nowUs, { want, leaseUs: LEASE_US, returns: named })
    shift(bucket, -nowUs)
    return { store: this.#storeOf(phase, bucket), granted, round: (roundUs - nowUs) / STEP_US }
  }

  #storeOf(phase: number, bucket: LeasedState): StoreState {
    const { tokens, newer, older } = bucket
    const text = `${phase} ${tokens} ${newer.held} ${newer.untilUs} ${older.held} ${older.untilUs}`
    let store = this.#stores.get(text)
    if (store === undefined) {
      store = { id: this.#stores.size, phase, bucket, exchanges: new Map(), passed: undefined }
      this.#stores.set(text, store)
    }
    return store
  }
}

function copyOf(bucket: LeasedState): LeasedState {
  return { ...bucket, newer: { ...bucket.newer }, older: { ...bucket.older } }
}

function shift(bucket: LeasedState, us: number): void {
  bucket.sinceUs += us
  changeLots(bucket, (lot) => (lot.held > 0 ? { ...lot, untilUs: lot.untilUs + us } : lot))
}

function changeLots(bucket: LeasedState, change: (lot: LeaseLot) => LeaseLot): void {
  bucket.newer = change(bucket.newer)
  bucket.older = change(bucket.older)
}

function withNode(nodes: readonly ModelNode[], i: number, node: ModelNode): ModelNode[] {
  const next = [...nodes]
  next[i] = node
  return next.sort(byId)
}

function byId(one: ModelNode, other: ModelNode): number {
  return one.id - other.id
}

function keyOf({ store, nodes }: State): string {
  let key = `${store.id}`
  for (const { id } of nodes) key += `,${id}`
  return key
}
