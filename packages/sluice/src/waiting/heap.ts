/** Knows its place in a heap, so that it can be taken out of the middle. */
export interface Placed {
  /** -1 while it is in none. */
  place: number
}

/** The first of many by some order, at any time; whoever is in it can leave. */
export class Heap<Item extends Placed> {
  readonly #items: Item[] = []
  readonly #isBefore: (one: Item, other: Item) => boolean

  constructor(isBefore: (one: Item, other: Item) => boolean) {
    this.#isBefore = isBefore
  }

  get size(): number {
    return this.#items.length
  }

  get first(): Item | undefined {
    return this.#items[0]
  }

  /** Takes a look at each. */
  get last(): Item | undefined {
    return this.#items.reduce((last, item) => (this.#isBefore(last, item) ? item : last), this.#items[0])
  }

  /** Takes a look at each. */
  countBefore(item: Item): number {
    return this.reduce((count, other) => (this.#isBefore(other, item) ? count + 1 : count), 0)
  }

  /** Looks at all, in no order. */
  reduce(each: (sum: number, item: Item) => number, from: number): number {
    return this.#items.reduce(each, from)
  }

  add(item: Item): void {
    this.#items.push(item)
    this.#rise(item, this.#items.length - 1)
  }

  remove(item: Item): void {
    const { place } = item
    const last = this.#items.pop() as Item
    item.place = -1
    if (last !== item) this.#settle(last, place)
  }

  #settle(item: Item, place: number): void {
    const parent = this.#items[(place - 1) >> 1]
    if (place > 0 && this.#isBefore(item, parent)) this.#rise(item, place)
    else this.#sink(item, place)
  }

  #rise(item: Item, from: number): void {
    let place = from
    while (place > 0) {
      const above = (place - 1) >> 1
      const parent = this.#items[above]
      if (!this.#isBefore(item, parent)) break
      this.#put(parent, place)
      place = above
    }
    this.#put(item, place)
  }

  #sink(item: Item, from: number): void {
    const { length } = this.#items
    let place = from
    for (;;) {
      let below = 2 * place + 1
      if (below >= length) break
      if (below + 1 < length && this.#isBefore(this.#items[below + 1], this.#items[below])) below++
      const child = this.#items[below]
      if (!this.#isBefore(child, item)) break
      this.#put(child, place)
      place = below
    }
    this.#put(item, place)
  }

  #put(item: Item, place: number): void {
    this.#items[place] = item
    item.place = place
  }
}
