import { type Clock, setAlarm } from '../../clock.js'
import { WaitTooLongError } from '../../errors.js'
import { arithmeticOf, type Decision, type Limit } from '../../limits/index.js'
import { isPromiseLike } from '../../stores/awaitable.js'
import type { Answer, Awaitable } from '../../stores/index.js'
import { Agenda } from '../../waiting/agenda.js'
import { Signals } from '../../waiting/signals.js'
import { Line, type Patience, Waiter } from './line.js'
import { sleepMs, vainMs } from './sleep.js'

/** Where units come from. */
export interface Source<A extends Answer> {
  readonly limit: Limit
  readonly clock: Clock
  /** Others may take and give back without this process knowing. */
  readonly isShared: boolean
  take(key: string, cost: number): Awaitable<A>
  /** Gives all back that an answer took. */
  refund(key: string, cost: number, answer: A): Awaitable<unknown>
}

/** The most that a source is asked for at a time for one key: what mostly leaves in one call of Redis. */
const MOST_UNDERWAY = 128

/**
 * Those who wait for units, in a line for each key. Only the first in line is asked for, and those behind it of the same
 * cost when it is known that there is enough; whatever is given for a cost goes to the first in line if that is its cost,
 * so nobody overtakes. When the source says no it is asked again when the units will be there, or when somebody says
 * (`wake`) that some have come back.
 *
 * Nothing here polls, and what is kept is kept for those who wait: no line, listener or alarm outlives them.
 */
export class Waiters<A extends Answer> {
  readonly #source: Source<A>
  readonly #clock: Clock
  readonly #quota: number
  readonly #lines = new Map<string, Line<A>>()
  readonly #agenda: Agenda<Line<A> | Waiter<A>>
  readonly #signals = new Signals<Waiter<A>>((waiter) => this.#giveUp(waiter, waiter.signal?.reason))

  constructor(source: Source<A>) {
    this.#source = source
    this.#clock = source.clock
    this.#quota = arithmeticOf(source.limit).quota
    this.#agenda = new Agenda(source.clock, setAlarm, (due) =>
      due instanceof Line ? this.#ask(due) : this.#timeIsUp(due),
    )
  }

  /** How much is kept: lines, and signals that are listened to. */
  get size(): { readonly lines: number; readonly signals: number } {
    return { lines: this.#lines.size, signals: this.#signals.size }
  }

  /** Resolves with the answer that took the units; rejects with a `WaitTooLongError` or the signal's reason. */
  wait(key: string, patience: Patience): Promise<A> {
    return new Promise((resolve, reject) => {
      if (patience.signal?.aborted) return reject(patience.signal.reason)
      const nowMs = this.#clock.now()
      const before = this.#lines.get(key)
      const line = before ?? new Line<A>(key)
      const waiter = new Waiter(line, patience, nowMs, resolve, reject)
      if (waiter.cost > this.#quota) return reject(neverError(waiter))
      // To somebody who wants less there may be an answer as soon as those before it give up.
      if (before !== undefined && waiter.cost >= line.askedCost && waiter.deadlineMs < line.nothingUntilMs)
        return reject(tooLongError(waiter, line.nothingUntilMs - nowMs))
      line.push(waiter)
      if (before === undefined) {
        this.#lines.set(key, line)
        this.#ask(line)
      }
      // Those who are served at once need neither alarm nor listener.
      if (waiter.isDone) return
      if (waiter.slot === undefined && waiter.deadlineMs < Infinity) this.#agenda.set(waiter, waiter.deadlineMs)
      if (waiter.signal !== undefined) this.#signals.watch(waiter.signal, waiter)
    })
  }

  /** Units of that key may have come back: asks for the first in line at once. */
  wake(key: string): void {
    const line = this.#lines.get(key)
    if (line !== undefined) this.#ask(line)
  }

  /** Asks until the line is empty, the source says no, or its answer has to be waited for. */
  #ask(line: Line<A>): void {
    if (line.underway > 0) {
      line.hasNews = true
      return
    }
    this.#agenda.drop(line)
    do this.#askFor(line)
    while (line.underway === 0 && this.#goesOn(line))
    if (line.underway === 0) this.#endOverdue(line)
  }

  #askFor(line: Line<A>): void {
    line.hasNews = false
    line.denial = undefined
    line.nothingUntilMs = 0
    const asked = this.#chooseNext(line)
    // All at once, so that nobody who is told of one answer believes it to be the last.
    line.underway = asked
    for (let i = 0; i < asked; i++) {
      try {
        const answer = this.#source.take(line.key, line.askedCost)
        if (isPromiseLike(answer)) this.#answeredLater(line, answer)
        else this.#answered(line, answer)
      } catch (error) {
        this.#failed(line, error)
      }
    }
  }

  /** Chooses those who are asked for now: how many they are, all of `askedCost`. */
  #chooseNext(line: Line<A>): number {
    while (line.first?.signal?.aborted) this.#fail(line.first, line.first.signal.reason)
    const { first } = line
    if (first === undefined) return 0
    line.askedCost = first.cost
    const most = Math.min(MOST_UNDERWAY, Math.max(1, Math.floor(line.remaining / Math.max(1, first.cost))))
    line.remaining = 0
    let count = 0
    for (let next: Waiter<A> | undefined = first; next?.cost === first.cost && count < most; next = next.next) {
      next.isAsked = true
      count++
    }
    return count
  }

  #answeredLater(line: Line<A>, answer: PromiseLike<A>): void {
    const goOn = () => {
      if (line.underway > 0) return
      if (this.#goesOn(line)) this.#ask(line)
      this.#endOverdue(line)
    }
    Promise.resolve(answer)
      .then((given) => this.#answered(line, given))
      .catch((error) => this.#failed(line, error))
      .then(goOn)
  }

  /** Throws only if there is no telling what the answer is. */
  #answered(line: Line<A>, answer: A): void {
    const [decision] = answer.decisions
    if (answer.allowed) {
      line.denials = 0
      line.remaining = decision.remaining
      this.#hand(line, answer, decision.delayMs)
    } else line.denial = decision
    line.underway--
  }

  #failed(line: Line<A>, error: unknown): void {
    if (line.first?.cost === line.askedCost) this.#fail(line.first, error)
    line.underway--
  }

  /** Gives what was taken to the first in line; back, if those whom it was taken for have gone. */
  #hand(line: Line<A>, answer: A, delayMs: number): void {
    // Whoever has a slot that has come was before.
    this.#agenda.catchUp()
    const { first } = line
    if (first?.cost !== line.askedCost) {
      this.#refund(line.key, line.askedCost, answer)
    } else if (delayMs <= 0) {
      this.#leave(first)
      first.resolve(answer)
    } else {
      this.#waitForSlot(first, answer, delayMs)
    }
  }

  #waitForSlot(waiter: Waiter<A>, answer: A, delayMs: number): void {
    const atMs = this.#clock.now() + delayMs
    if (atMs > waiter.deadlineMs) {
      this.#fail(waiter, tooLongError(waiter, delayMs))
      this.#refund(waiter.line.key, waiter.cost, answer)
      return
    }
    waiter.line.remove(waiter)
    waiter.slot = answer
    waiter.rank = 0
    this.#agenda.set(waiter, atMs)
  }

  /** Once all that was asked is answered: is there somebody to be asked for at once? */
  #goesOn(line: Line<A>): boolean {
    for (let next = line.first; next?.isAsked; next = next.next) next.isAsked = false
    if (line.denial !== undefined && !line.hasNews && this.#sleeps(line, line.denial)) return false
    if (line.first !== undefined) return true
    this.#drop(line)
    return false
  }

  /** After a no: rejects those at the front whom it tells that waiting is in vain. Does the line sleep for the others? */
  #sleeps(line: Line<A>, denial: Decision): boolean {
    const { limit, isShared } = this.#source
    const nowMs = this.#clock.now()
    const untilMs = nowMs + vainMs(limit, denial)
    line.denials++
    for (let { first } = line; first !== undefined; { first } = line) {
      // The no was to more than that. To as much or more it would be no as well.
      if (first.cost < line.askedCost) return false
      if (untilMs === Infinity) this.#fail(first, neverError(first))
      else if (untilMs > first.deadlineMs) this.#fail(first, tooLongError(first, untilMs - nowMs))
      else {
        line.nothingUntilMs = untilMs
        line.readyMs = nowMs + denial.retryAfterMs
        this.#agenda.set(line, nowMs + sleepMs(limit, denial, line.denials, isShared))
        return true
      }
    }
    return false
  }

  #timeIsUp(waiter: Waiter<A>): void {
    const { line, slot } = waiter
    if (slot !== undefined) {
      this.#leave(waiter)
      waiter.resolve(slot)
    } else if (line.underway > 0) {
      line.overdue.push(waiter)
    } else {
      this.#giveUp(waiter, expiredError(waiter, line.readyMs - this.#clock.now()))
    }
  }

  /** Rejects those whose time was over while the source was being asked, unless it is now being asked for them. */
  #endOverdue(line: Line<A>): void {
    const { overdue } = line
    if (overdue.length === 0) return
    line.overdue = []
    for (const waiter of overdue) {
      if (waiter.isAsked && !waiter.isDone) line.overdue.push(waiter)
      else this.#giveUp(waiter, expiredError(waiter, line.readyMs - this.#clock.now()))
    }
  }

  #giveUp(waiter: Waiter<A>, reason: unknown): void {
    if (waiter.isDone) return
    const { line, slot } = waiter
    const wasFirst = line.first === waiter
    this.#fail(waiter, reason)
    if (slot !== undefined) this.#refund(line.key, waiter.cost, slot)
    else if (wasFirst && line.underway === 0) this.#firstHasLeft(line)
  }

  #firstHasLeft(line: Line<A>): void {
    if (line.first === undefined) {
      this.#agenda.drop(line)
      this.#drop(line)
    } else if (line.first.cost < line.askedCost) this.#ask(line)
  }

  #drop(line: Line<A>): void {
    // Another one may have taken its place since.
    if (this.#lines.get(line.key) === line) this.#lines.delete(line.key)
  }

  #fail(waiter: Waiter<A>, reason: unknown): void {
    this.#leave(waiter)
    waiter.reject(reason)
  }

  #leave(waiter: Waiter<A>): void {
    waiter.isDone = true
    if (waiter.slot === undefined) waiter.line.remove(waiter)
    this.#agenda.drop(waiter)
    if (waiter.signal !== undefined) this.#signals.unwatch(waiter.signal, waiter)
  }

  #refund(key: string, cost: number, answer: A): void {
    // Who waited has been told already, so nobody is left to be told that it failed: the units stay taken.
    try {
      const given = this.#source.refund(key, cost, answer)
      if (isPromiseLike(given))
        given.then(
          () => this.wake(key),
          () => {},
        )
      else this.wake(key)
    } catch {}
  }
}

function neverError({ cost }: { readonly cost: number }): WaitTooLongError {
  return new WaitTooLongError(
    `a cost of ${cost} is more than the limit can ever give, so waiting does not help`,
    Infinity,
  )
}

/** Somebody need not even begin to wait. */
function tooLongError({ maxWaitMs }: { readonly maxWaitMs: number }, leftMs: number): WaitTooLongError {
  const retryAfterMs = Math.max(1, Math.ceil(leftMs))
  const message = `the units would come in ${retryAfterMs} ms at the earliest, and maxWaitMs is ${maxWaitMs}`
  return new WaitTooLongError(message, retryAfterMs)
}

/** Somebody has waited for as long as it wanted to. */
function expiredError({ maxWaitMs }: { readonly maxWaitMs: number }, leftMs: number): WaitTooLongError {
  const retryAfterMs = Math.max(1, Math.ceil(leftMs))
  const message = `nothing came within ${maxWaitMs} ms (maxWaitMs); the first in line may have to wait for ${retryAfterMs} ms more`
  return new WaitTooLongError(message, retryAfterMs)
}
