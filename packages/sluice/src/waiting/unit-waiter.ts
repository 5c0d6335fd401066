import { WaitTooLongError } from '../errors.js'
import type { Answer } from '../stores/index.js'
import { Waiter } from './line.js'
import type { Slot } from './slots.js'
import type { LineOwner } from './waiting-room.js'

/** A caller that waits for units: first in line, then perhaps for its slot. */
export class UnitWaiter extends Waiter<LineOwner<UnitWaiter>, Answer> {
  deadlineMs = Infinity
  /** The store is being asked for this waiter. */
  isAsked = false
  /** The slot that it has been given and waits for. It is in no line then. */
  slot: Slot | undefined = undefined

  /** The error if the units come in `leftMs`, which is after the deadline. */
  tooLateError(leftMs: number): WaitTooLongError {
    const { maxWaitMs } = this.request
    return tooLong(leftMs, (ms) => `the units would come in ${ms} ms at the earliest, and maxWaitMs is ${maxWaitMs}`)
  }

  /** The error if the deadline has come. The first waiter in line is served in `leftMs` at the latest. */
  expiredError(leftMs: number): WaitTooLongError {
    const message = `no units came within ${this.request.maxWaitMs} ms (maxWaitMs); the first in line may have to wait for`
    return tooLong(leftMs, (ms) => `${message} ${ms} ms more`)
  }
}

/** The error for a cost above the quota. */
export function neverError(cost: number): WaitTooLongError {
  return tooLong(Infinity, () => `a cost of ${cost} is more than the limit can ever give, so waiting does not help`)
}

function tooLong(leftMs: number, message: (wholeMs: number) => string): WaitTooLongError {
  const wholeMs = Math.max(1, Math.ceil(leftMs))
  return new WaitTooLongError(message(wholeMs), wholeMs)
}
