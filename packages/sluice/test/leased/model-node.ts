/**
 * A node of the lease model: what it holds, and its messages. Nodes that are equal are one object, and what can happen to a
 * node is computed once, because the search meets the same few thousand nodes in all of its states.
 */

/** Units of one round, in the hand of a node. `until` and `round` are steps from now. */
interface Lot {
  round: number
  until: number
  units: number
  spent: number
}

interface Return {
  readonly round: number
  readonly spent: number
  readonly unspent: number
}

/** A request on its way to the store. */
export interface Request {
  readonly want: number
  readonly returns: readonly Return[]
  /** Steps since it was sent. */
  readonly age: number
}

/** An answer on its way to the node. */
export interface Reply {
  readonly granted: number
  readonly round: number
  readonly until: number
}

interface Content {
  lots: Lot[]
  /** The call that the node waits for: still to arrive, or answered. */
  request: Request | undefined
  reply: Reply | undefined
  /** A request that the node gave up, or sent before it died: it may still arrive, also after the next one was sent. */
  orphan: Request | undefined
}

/** What may happen to a node, and the node after it. */
export interface NodeEvent {
  readonly event: string
  readonly to: ModelNode
  /** Has the node spent a unit? */
  readonly admits: boolean
}

export interface ModelNode {
  readonly id: number
  readonly request: Request | undefined
  readonly orphan: Request | undefined
  readonly hasMessage: boolean
  /** What may happen without the store, other than to ask. */
  readonly events: () => readonly NodeEvent[]
  /** How it may ask. */
  readonly asks: () => readonly NodeEvent[]
  /** The node a step later. */
  readonly passed: () => ModelNode
  /** The node after its request has arrived. */
  readonly arrived: (reply: Reply) => ModelNode
  /** The node after the request that it gave up has arrived, or was lost. */
  readonly forgotten: () => ModelNode
}

interface NodeOptions {
  readonly capacity: number
  /** After so many steps a round is over, and so are all returns and leases that name it. */
  readonly oldSteps: number
  /** May a request that was given up arrive after the next one was sent? */
  readonly overtaking: boolean
}

/** All nodes of a model. */
export class ModelNodes {
  readonly #options: NodeOptions
  readonly #known = new Map<string, ModelNode>()

  constructor(options: NodeOptions) {
    this.#options = options
  }

  start(): ModelNode {
    return this.#nodeOf({ lots: [], request: undefined, reply: undefined, orphan: undefined })
  }

  #nodeOf(content: Content): ModelNode {
    content.lots = content.lots.filter(({ units, spent }) => units > 0 || spent > 0)
    const text = textOf(content)
    let node = this.#known.get(text)
    if (node === undefined) {
      node = this.#newNode(content)
      this.#known.set(text, node)
    }
    return node
  }

  #newNode(content: Content): ModelNode {
    const { request, reply, orphan } = content
    const after = (change: (next: Content) => void) => {
      const next = { ...content, lots: content.lots.map((lot) => ({ ...lot })) }
      change(next)
      return this.#nodeOf(next)
    }
    const replies = new Map<string, ModelNode>()
    return {
      id: this.#known.size,
      request,
      orphan,
      hasMessage: (request ?? reply ?? orphan) !== undefined,
      events: once(() => eventsOf(content, after)),
      asks: once(() => asksOf(content, this.#options, after)),
      passed: once(() => after((next) => pass(next, this.#options.oldSteps))),
      arrived: (answer) => {
        const key = `${answer.granted} ${answer.round} ${answer.until}`
        const known = replies.get(key) ?? after((next) => arrive(next, answer))
        replies.set(key, known)
        return known
      },
      forgotten: once(() => after(forget)),
    }
  }
}

type After = (change: (next: Content) => void) => ModelNode

function eventsOf({ lots, request, reply, orphan }: Content, after: After): NodeEvent[] {
  const events: NodeEvent[] = []
  for (const [j, lot] of lots.entries())
    if (lot.until > 0 && lot.units > 0)
      events.push({ event: 'spends', to: after((next) => spend(next.lots[j])), admits: true })
  const add = (event: string, change: (next: Content) => void) =>
    events.push({ event, to: after(change), admits: false })
  if (request !== undefined) add('gives up', giveUp)
  if (reply !== undefined) {
    add('has its answer', receive)
    add('never has its answer', (next) => {
      next.reply = undefined
    })
  }
  if (orphan !== undefined) add('gave up a request that is lost', forget)
  if (lots.length > 0 || request !== undefined || reply !== undefined) add('dies, and another starts', die)
  return events
}

function asksOf({ lots, request, reply }: Content, { capacity, overtaking }: NodeOptions, after: After): NodeEvent[] {
  if (request !== undefined || reply !== undefined) return []
  const asks: NodeEvent[] = []
  for (const want of new Set([0, 1, capacity]))
    for (const isAll of lots.some(({ units }) => units > 0) ? [false, true] : [false])
      if (want > 0 || isAll || lots.some(({ spent }) => spent > 0)) {
        const event = `asks for ${want}${isAll ? ' and returns all' : ''}`
        const ask = (next: Content) => {
          send(next, want, isAll)
          if (!overtaking) forget(next)
        }
        asks.push({ event, to: after(ask), admits: false })
      }
  return asks
}

function spend(lot: Lot): void {
  lot.units--
  lot.spent++
}

function send(node: Content, want: number, isAll: boolean): void {
  const returns = node.lots.map(({ round, spent, units }) => ({ round, spent, unspent: isAll ? units : 0 }))
  for (const lot of node.lots) {
    lot.spent = 0
    if (isAll) lot.units = 0
  }
  node.request = { want, returns: returns.filter(({ spent, unspent }) => spent + unspent > 0), age: 0 }
}

/** Of two requests that it gave up, the older one counts as lost. */
function giveUp(node: Content): void {
  node.orphan = node.request
  node.request = undefined
}

function die(node: Content): void {
  node.orphan = node.request ?? node.orphan
  node.lots = []
  node.request = undefined
  node.reply = undefined
}

/** The store has read the request. The guard ignores all requests with lower numbers from then on. */
function arrive(node: Content, reply: Reply): void {
  node.request = undefined
  node.orphan = undefined
  node.reply = reply
}

function forget(node: Content): void {
  node.orphan = undefined
}

function receive(node: Content): void {
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

function pass(node: Content, oldSteps: number): void {
  for (const lot of node.lots) {
    lot.round--
    lot.until = Math.max(0, lot.until - 1)
  }
  node.lots = node.lots.filter(({ round, until }) => round > 0 || until > 0)
  node.request = older(node.request, oldSteps)
  node.orphan = older(node.orphan, oldSteps)
  if (node.reply === undefined) return
  const { granted, round, until } = node.reply
  const isOver = Math.max(round, until) <= 1
  node.reply = isOver ? { granted: 0, round: 1, until: 0 } : { granted, round: round - 1, until: until - 1 }
}

function older(request: Request | undefined, oldSteps: number): Request | undefined {
  if (request === undefined) return undefined
  const returns = request.returns.map((each) => ({ ...each, round: each.round - 1 })).filter(({ round }) => round > 0)
  return { want: request.want, age: Math.min(oldSteps, request.age + 1), returns }
}

function textOf({ lots, request, reply, orphan }: Content): string {
  const texts = lots.map(({ round, until, units, spent }) => `${round},${until},${units},${spent}`)
  const answer = reply === undefined ? '' : `${reply.granted},${reply.round},${reply.until}`
  return `${texts.join(';')}/${requestText(request)}/${answer}/${requestText(orphan)}`
}

function requestText(request: Request | undefined): string {
  if (request === undefined) return ''
  const returns = request.returns.map(({ round, spent, unspent }) => `${round},${spent},${unspent}`)
  return `${request.want}:${request.age}:${returns.join(';')}`
}

function once<T extends object>(compute: () => T): () => T {
  let known: T | undefined
  return () => {
    known ??= compute()
    return known
  }
}
