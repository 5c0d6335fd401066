/**
 * Every error that Sluice throws: a mistake in a call, a store that fails, or a wait that a caller does not accept. A
 * denial is a value, not an error. This file also emits process warnings.
 */

/** The `code` of each error, for programs that tell errors apart. */
export type SluiceErrorCode =
  | 'SLUICE_INVALID_TYPE'
  | 'SLUICE_INVALID_VALUE'
  | 'SLUICE_INVALID_POLICY'
  | 'SLUICE_STORE_FULL'
  | 'SLUICE_STORE_UNAVAILABLE'
  | 'SLUICE_QUEUE_FULL'
  | 'SLUICE_WAIT_TOO_LONG'
  | 'SLUICE_CLOSED'

/** Options of an error for a wrong argument. */
interface InvalidOptions extends ErrorOptions {
  readonly option?: string | undefined
}

/** An option, key or cost of the wrong type. Nothing was changed. */
export class InvalidTypeError extends TypeError {
  override readonly name = 'InvalidTypeError'
  readonly code: SluiceErrorCode = 'SLUICE_INVALID_TYPE'
  /** The name of the option, if the error is about one option. */
  readonly option: string | undefined

  constructor(message: string, options: InvalidOptions = {}) {
    super(message, options)
    this.option = options.option
  }
}

/** An option, key or cost of the right type but with a wrong value. Nothing was changed. */
export class InvalidValueError extends RangeError {
  override readonly name = 'InvalidValueError'
  readonly code: SluiceErrorCode = 'SLUICE_INVALID_VALUE'
  /** See {@link InvalidTypeError.option}. */
  readonly option: string | undefined

  constructor(message: string, options: InvalidOptions = {}) {
    super(message, options)
    this.option = options.option
  }
}

/** One error in a policy, or one warning about it, and where: `['levels', 2, 'limit', 'refill']`. */
export interface PolicyProblem {
  readonly path: readonly (string | number)[]
  readonly message: string
}

const MOST_SHOWN = 20

/** A policy or an override that cannot be used, with all of its problems. No part of it is in force. */
export class InvalidPolicyError extends TypeError {
  override readonly name = 'InvalidPolicyError'
  readonly code: SluiceErrorCode = 'SLUICE_INVALID_POLICY'
  readonly problems: readonly PolicyProblem[]

  /** `what` cannot be used. Default: the policy. */
  constructor(problems: readonly PolicyProblem[], what = 'the policy') {
    const lines = problems.slice(0, MOST_SHOWN).map(({ path, message }) => `${pathText(path)}: ${message}`)
    if (problems.length > MOST_SHOWN) lines.push(`and ${problems.length - MOST_SHOWN} more`)
    super(
      lines.length === 1
        ? `${what} cannot be used: ${lines[0]}`
        : `${what} has ${problems.length} problems:\n  ${lines.join('\n  ')}`,
    )
    this.problems = problems
  }
}

/** `levels[2].limit.refill` */
function pathText(path: PolicyProblem['path']): string {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')
  return text.startsWith('.') ? text.slice(1) : text || 'policy'
}

/** A store at `maxKeys` has no room for something that it must not forget, such as a block. */
export class StoreFullError extends Error {
  override readonly name = 'StoreFullError'
  readonly code: SluiceErrorCode = 'SLUICE_STORE_FULL'
}

/** A store did not answer a call that has no degraded answer, such as a block. `cause` says why. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError'
  readonly code: SluiceErrorCode = 'SLUICE_STORE_UNAVAILABLE'
}

/** A queue is full. Nothing was taken. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError'
  readonly code: SluiceErrorCode = 'SLUICE_QUEUE_FULL'
  /**
   * After how long there is room, if no other caller comes; `Infinity` for a cost larger than the queue. There may be room
   * only later if waiters wait for work to end, for `resume`, or for units of a limiter.
   */
  readonly retryAfterMs: number

  constructor(message: string, retryAfterMs: number) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

/** The wait is longer than the caller accepts, or waiting does not help. Nothing was taken. */
export class WaitTooLongError extends Error {
  override readonly name = 'WaitTooLongError'
  readonly code: SluiceErrorCode = 'SLUICE_WAIT_TOO_LONG'
  /** How long the wait would have been from now on, as far as is known; `Infinity` if waiting does not help. */
  readonly retryAfterMs: number

  constructor(message: string, retryAfterMs: number) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

/** The shaper or queue is closed and accepts no more calls. */
export class ClosedError extends Error {
  override readonly name = 'ClosedError'
  readonly code: SluiceErrorCode = 'SLUICE_CLOSED'
}

const LONGEST_SHOWN = 60

/** A value as it appears in a message: quoted if it is a string, cut short if it is long. */
export function shown(value: unknown): string {
  if (typeof value === 'string') {
    const cut = value.length > LONGEST_SHOWN ? `${value.slice(0, LONGEST_SHOWN)}…` : value
    return `'${cut.toWellFormed()}'`
  }
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'symbol') return 'a symbol'
  if (typeof value === 'bigint') return `${shownShort(String(value))}n`
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  return String(value)
}

function shownShort(text: string): string {
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text
}

/** The error for a value of the wrong type: "`option` must be `wanted`, got 'x': `advice`". */
export function invalidType(option: string, wanted: string, value: unknown, advice?: string): InvalidTypeError {
  return new InvalidTypeError(wrongText(option, wanted, value, advice), { option })
}

/** The error for a value out of range: "`option` must be `wanted`, got 0: `advice`". */
export function invalidValue(option: string, wanted: string, value: unknown, advice?: string): InvalidValueError {
  return new InvalidValueError(wrongText(option, wanted, value, advice), { option })
}

function wrongText(option: string, wanted: string, value: unknown, advice: string | undefined): string {
  return `${option} must be ${wanted}, got ${shown(value)}${advice === undefined ? '' : `: ${advice}`}`
}

/** Runs a function and puts `where` in front of the message of an argument error that it throws. */
export function naming<T>(where: string, run: () => T): T {
  try {
    return run()
  } catch (cause) {
    const message = `${where}: ${cause instanceof Error ? cause.message : ''}`
    if (cause instanceof InvalidTypeError) throw new InvalidTypeError(message, { cause, option: cause.option })
    if (cause instanceof InvalidValueError) throw new InvalidValueError(message, { cause, option: cause.option })
    throw cause
  }
}

/** Emits a process warning with a code. Where there is no Node.js, writes to the console. */
export function warn(message: string, code: string): void {
  const { process } = globalThis as {
    process?: { emitWarning?: (message: string, type: string, code: string) => void }
  }
  if (typeof process?.emitWarning === 'function') process.emitWarning(message, 'SluiceWarning', code)
  else console.warn(`[${code}] ${message}`)
}

/** The message of an error, or a short text for any other value that was thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : shown(error)
}
