/**
 * An exhaustive model of the lease protocol. Nodes, messages and time are small and discrete; the bucket is the library's own
 * `LeasedBucket`. A breadth-first search visits every state that any order of events can lead to:
 *
 * - a node spends a unit that it holds, asks for units, or returns what it holds;
 * - a message arrives late, twice or never; an answer arrives after the node has given up;
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

/** A time step. The lease time of every request is half of it, so a round, which is four lease times, has two. */
const STEP_US = 1_000
const LEASE_US = STEP_US / 2
const ROUND = 2
/** After so many steps a round is over, and so are all returns and leases that name it. */
const OLD = 2 * ROUND + 1

/** Units of one round, in the hand of a node. `until` and `round` are steps from now. */
interface Lot {
  round: number
  until: number
  units: number
  spent: number
}

interface Return {
  round: number
  spent: number
  unspent: number
}

/** A request on its way to the store. */
interface Request {
  want: number
  returns: Return[]
  /** Steps since it was sent. */
  age: number
}

/** An answer on its way to the node. */
interface Reply {
  granted: number
  round: number
  until: number
}

interface Node {
  lots: Lot[]
  /** The call that the node waits for: still to arrive, or answered. */
  request: Request | undefined
  reply: Reply | undefined
  /** A request that the node gave up, or sent before it died: it may still arrive. */
  orphan: Request | undefined
}

interface State {
  /** Steps since a round began. */
  phase: number
  /** Times of the bucket are steps from now. */
  bucket: LeasedState
  /** Parts left in the ideal bucket. */
  ideal: number
  nodes: Node[]
}

/** What the model is of. */
export interface ModelOptions {
  readonly nodes: number
  readonly capacity: number
  /** How many steps a unit takes to come back. */
  readonly stepsPerUnit: number
  /** How many nodes may have a message on its way at the same time. Default: all. */
  readonly mostUnderway?: number
  /** A mistake that the model must find: the store forgets held units a step early, or takes returns of copies too. */
  readonly mistake?: 'forgets early' | 'counts copies' | 'refills beside held units'
}

/** The outcome of a search. */
export interface ModelResult {
  readonly states: number
  /** The events that led to a broken law, if any did. */
  readonly broken: readonly string[] | undefined
}

/**
 * Of two states that differ only in the ideal bucket, the one with less in it breaks the law whenever the other does. So the
 * search goes on only from the lowest that it has seen.
 */
export function searchLeases(options: ModelOptions): ModelResult {
  const model = new Model(options)
  const first = model.start()
  const seen = new Map<string, Visit>([[keyOf(first), { ideal: first.ideal, before: undefined, event: '' }]])
  let front: State[] = [first]
  while (front.length > 0) {
    const next: State[] = []
    for (const state of front) {
      const before = seen.get(keyOf(state))
      for (const [event, to] of model.steps(state)) {
        if (to.ideal < 0) return { states: seen.size, broken: [...eventsTo(before), event] }
        const key = keyOf(to)
        const known = seen.get(key)
        if (known !== undefined && known.ideal <= to.ideal) continue
        seen.set(key, { ideal: to.ideal, before, event })
        next.push(to)
      }
    }
    front = next
  }
  return { states: seen.size, broken: undefined }
}

/** How the search came to a state. */
interface Visit {
  readonly ideal: number
  readonly before: Visit | undefined
  readonly event: string
}

function eventsTo(visit: Visit | undefined): string[] {
  const events: string[] = []
  for (let each = visit; each?.before !== undefined; each = each.before) events.unshift(each.event)
  return events
}

class Model {
  readonly #bucket: LeasedBucket
  readonly #options: ModelOptions

  constructor(options: ModelOptions) {
    this.#options = options
    this.#bucket = new LeasedBucket(
      tokenBucket({ capacity: options.capacity, refill: `1/${options.stepsPerUnit * (STEP_US / 1_000)}ms` }),
    )
  }

  start(): State {
    const nodes = Array.from({ length: this.#options.nodes }, newNode)
    return { phase: 0, bucket: this.#bucket.start(0), ideal: this.#bucket.full, nodes }
  }

  /** Every event that may come next, and the state after it. */
  *steps(state: State): Generator<[string, State]> {
    yield ['time passes', this.#pass(state)]
    const direct = copyOf(state)
    if (direct.bucket.tokens >= this.#bucket.partsPerUnit) {
      direct.bucket.tokens -= this.#bucket.partsPerUnit
      this.#admit(direct)
      yield ['a request is decided directly', direct]
    }
    for (let i = 0; i < state.nodes.length; i++) {
      // Nodes in the same state do the same.
      if (i > 0 && nodeKey(state.nodes[i]) === nodeKey(state.nodes[i - 1])) continue
      yield* this.#stepsOf(state, i)
    }
  }

  *#stepsOf(state: State, i: number): Generator<[string, State]> {
    const { lots, request, reply, orphan } = state.nodes[i]
    for (const [j, lot] of lots.entries()) {
      if (lot.until <= 0 || lot.units === 0) continue
      yield [`node ${i} spends`, this.#with(state, i, (node, next) => this.#spend(node.lots[j], next))]
    }
    const underway = state.nodes.filter((node) => node.request ?? node.reply ?? node.orphan).length
    const mayAsk = orphan !== undefined || underway < (this.#options.mostUnderway ?? Infinity)
    if (request === undefined && reply === undefined && mayAsk) {
      for (const want of new Set([0, 1, this.#options.capacity]))
        for (const isAll of lots.some(({ units }) => units > 0) ? [false, true] : [false])
          if (want > 0 || isAll || lots.some(({ spent }) => spent > 0))
            yield [
              `node ${i} asks for ${want}${isAll ? ' and returns all' : ''}`,
              this.#with(state, i, (node) => send(node, want, isAll)),
            ]
    }
    if (request !== undefined) {
      yield [
        `the request of node ${i} arrives`,
        this.#with(state, i, (node, next) => this.#arrive(node, next, request)),
      ]
      yield [`node ${i} gives up`, this.#with(state, i, giveUp)]
    }
    if (reply !== undefined) {
      yield [`the answer to node ${i} arrives`, this.#with(state, i, receive)]
      yield [
        `the answer to node ${i} is lost`,
        this.#with(state, i, (node) => {
          node.reply = undefined
        }),
      ]
    }
    if (orphan !== undefined) {
      yield [
        `the request that node ${i} gave up arrives`,
        this.#with(state, i, (node, next) => {
          node.orphan = undefined
          this.#exchange(next, orphan)
        }),
      ]
      yield [
        `the request that node ${i} gave up is lost`,
        this.#with(state, i, (node) => {
          node.orphan = undefined
        }),
      ]
    }
    if (lots.length > 0 || request !== undefined || reply !== undefined)
      yield [
        `node ${i} dies, and another starts`,
        this.#with(state, i, (node) => {
          node.orphan = node.request ?? node.orphan
          node.lots = []
          node.request = undefined
          node.reply = undefined
        }),
      ]
  }

  #with(state: State, i: number, change: (node: Node, next: State) => void): State {
    const next = copyOf(state)
    const node = copyOfNode(state.nodes[i])
    next.nodes[i] = node
    change(node, next)
    node.lots = node.lots.filter(({ units, spent }) => units > 0 || spent > 0)
    next.nodes.sort(byKey)
    return next
  }

  #pass(state: State): State {
    const next = copyOf(state)
    const { bucket, nodes } = next
    next.phase = (next.phase + 1) % ROUND
    shift(bucket, -STEP_US)
    if (this.#options.mistake === 'forgets early')
      changeLots(bucket, (lot) => (lot.untilUs <= STEP_US ? { ...lot, held: 0 } : lot))
    this.#bucket.advance(bucket, 0)
    if (this.#options.mistake === 'refills beside held units')
      bucket.tokens = Math.min(this.#bucket.full, state.bucket.tokens + STEP_US * this.#bucket.partsPerUs)
    changeLots(bucket, (lot) => (lot.held === 0 ? { ...lot, untilUs: 0 } : lot))
    next.ideal = Math.min(this.#bucket.full, next.ideal + STEP_US * this.#bucket.partsPerUs)
    next.nodes = nodes.map(passed).sort(byKey)
    return next
  }

  #spend(lot: Lot, state: State): void {
    lot.units--
    lot.spent++
    this.#admit(state)
  }

  #admit(state: State): void {
    state.ideal -= this.#bucket.partsPerUnit
  }

  #arrive(node: Node, state: State, request: Request): void {
    const { granted, round } = this.#exchange(state, request)
    node.request = undefined
    // The node counts from the moment it sent the request, and its clock is as slow as it may be.
    node.reply = { granted, round, until: round - request.age }
    // A copy of the request arrives as well: its number is not above the last one, so the store ignores it.
    if (this.#options.mistake === 'counts copies') this.#exchange(state, { ...request, want: 0 })
  }

  #exchange(state: State, { want, returns }: Request): { granted: number; round: number } {
    const phaseUs = state.phase * STEP_US
    const { bucket } = state
    // The bucket's rounds begin on multiples of their length, so it is asked at a time with the right phase.
    shift(bucket, ROUND * STEP_US + phaseUs)
    const nowUs = ROUND * STEP_US + phaseUs
    const named = returns.map(({ round, spent, unspent }) => ({ roundUs: round * STEP_US + nowUs, spent, unspent }))
    const { granted, roundUs } = this.#bucket.exchange(bucket, nowUs, { want, leaseUs: LEASE_US, returns: named })
    shift(bucket, -nowUs)
    return { granted, round: (roundUs - nowUs) / STEP_US }
  }
}

const IDLE = '///'

function newNode(): Node {
  return { lots: [], request: undefined, reply: undefined, orphan: undefined }
}

function send(node: Node, want: number, isAll: boolean): void {
  const returns = node.lots.map(({ round, spent, units }) => ({ round, spent, unspent: isAll ? units : 0 }))
  for (const lot of node.lots) {
    lot.spent = 0
    if (isAll) lot.units = 0
  }
  // At most one request of a node is on its way unheard of: an earlier one counts as lost.
  node.orphan = undefined
  node.request = { want, returns: returns.filter(({ spent, unspent }) => spent + unspent > 0), age: 0 }
}

function giveUp(node: Node): void {
  node.orphan = node.request
  node.request = undefined
}

function receive(node: Node): void {
  const { granted, round, until } = node.reply as Reply
  node.reply = undefined
  if (granted === 0) return
  const same = node.lots.find((lot) => lot.round === round)
  if (same === undefined) node.lots.push({ round, until, units: granted, spent: 0 })
  else {
    same.units += granted
    same.until = Math.min(same.until, until)
  }
}

/** The node a step later. An idle node stays as it is. */
function passed(before: Node): Node {
  if (nodeKey(before) === IDLE) return before
  const node = copyOfNode(before)
  for (const lot of node.lots) {
    lot.round--
    lot.until = Math.max(0, lot.until - 1)
  }
  node.lots = node.lots.filter(({ round }) => round > 0)
  for (const request of [node.request, node.orphan]) {
    if (request === undefined) continue
    request.age = Math.min(OLD, request.age + 1)
    request.returns = request.returns
      .map((each) => ({ ...each, round: each.round - 1 }))
      .filter(({ round }) => round > 0)
  }
  if (node.reply !== undefined) {
    node.reply.round--
    node.reply.until--
    if (node.reply.round <= 0) node.reply = { granted: 0, round: 1, until: 0 }
  }
  return node
}

function shift(bucket: LeasedState, us: number): void {
  bucket.sinceUs += us
  changeLots(bucket, (lot) => (lot.held > 0 ? { ...lot, untilUs: lot.untilUs + us } : lot))
}

function changeLots(bucket: LeasedState, change: (lot: LeaseLot) => LeaseLot): void {
  bucket.newer = change(bucket.newer)
  bucket.older = change(bucket.older)
}

function copyOf({ phase, bucket, ideal, nodes }: State): State {
  const copied = { ...bucket, newer: { ...bucket.newer }, older: { ...bucket.older } }
  return { phase, bucket: copied, ideal, nodes: [...nodes] }
}

/** Nodes are alike, so their order does not matter. */
function byKey(a: Node, b: Node): number {
  return nodeKey(a) < nodeKey(b) ? -1 : 1
}

function copyOfNode({ lots, request, reply, orphan }: Node): Node {
  return {
    lots: lots.map((lot) => ({ ...lot })),
    request: request && { ...request },
    reply: reply && { ...reply },
    orphan: orphan && { ...orphan },
  }
}

function keyOf({ phase, bucket, nodes }: State): string {
  const { tokens, newer, older } = bucket
  return `${phase} ${tokens} ${newer.held} ${newer.untilUs} ${older.held} ${older.untilUs} ${nodes.map(nodeKey).join('|')}`
}

/** Nodes are shared between states, and their texts are made once. */
const nodeKeys = new WeakMap<Node, string>()

function nodeKey(node: Node): string {
  let key = nodeKeys.get(node)
  if (key === undefined) {
    key = nodeText(node)
    nodeKeys.set(node, key)
  }
  return key
}

function nodeText({ lots, request, reply, orphan }: Node): string {
  const texts = lots.map(({ round, until, units, spent }) => `${round},${until},${units},${spent}`)
  const answer = reply === undefined ? '' : `${reply.granted},${reply.round},${reply.until}`
  return `${texts.join(';')}/${requestKey(request)}/${answer}/${requestKey(orphan)}`
}

function requestKey(request: Request | undefined): string {
  if (request === undefined) return ''
  const returns = request.returns.map(({ round, spent, unspent }) => `${round},${spent},${unspent}`)
  return `${request.want}:${request.age}:${returns.join(';')}`
}
