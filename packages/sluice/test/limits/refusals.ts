/** What every error of Sluice is like, and values that are wrong nearly everywhere. */
import { expect } from 'vitest'

/** Ten million characters: nobody wants them in a message. */
export const TEN_MB = 'x'.repeat(10_000_000)

/** Numbers that are no whole number of anything, each with how a message shows it. */
export const WRONG_NUMBERS: readonly (readonly [unknown, string])[] = [
  [Number.NaN, 'NaN'],
  [Infinity, 'Infinity'],
  [-Infinity, '-Infinity'],
  [-1, '-1'],
  [1.5, '1.5'],
  [2 ** 53, '9007199254740992'],
]

/** Values of another type, each with how a message shows it. */
export const WRONG_TYPES: readonly (readonly [unknown, string])[] = [
  ['5', "'5'"],
  ['', "''"],
  ['\ud800', "'\ufffd'"],
  [TEN_MB, "'xxxxxxxxxx"],
  [null, 'null'],
  [true, 'true'],
  [5n, '5n'],
  [10n ** 5_000n, '1000000000'],
  [{}, 'an object'],
  [{ toString: 5 }, 'an object'],
  [Object.create(null), 'an object'],
  [[5], 'an array'],
  [() => 5, 'a function'],
  [Symbol('five'), 'a symbol'],
]

/** The error that a call throws: one of ours, of the right kind, with a short message that holds all of `parts`. */
export function expectRefusal(call: () => unknown, ...parts: readonly (string | RegExp)[]): void {
  expectOurs(thrownBy(call), parts)
}

/** The same for a promise. */
export async function expectRejection(
  promise: Promise<unknown>,
  ...parts: readonly (string | RegExp)[]
): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expectOurs(error, parts)
}

function expectOurs(error: unknown, parts: readonly (string | RegExp)[]): void {
  expect(error instanceof TypeError || error instanceof RangeError, `not an error of ours: ${String(error)}`).toBe(true)
  const { code, message } = error as Error & { code?: unknown }
  expect(String(code), message.slice(0, 300)).toMatch(/^SLUICE_/)
  expect(message.length).toBeLessThan(300)
  expect(message.isWellFormed()).toBe(true)
  for (const part of parts) {
    if (typeof part === 'string') expect(message).toContain(part)
    else expect(message).toMatch(part)
  }
}

function thrownBy(call: () => unknown): unknown {
  try {
    call()
  } catch (error) {
    return error
  }
  return undefined
}
