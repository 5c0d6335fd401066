/** Checks of the errors that bad input causes, and values that are wrong for nearly every option. */
import { expect } from 'vitest'

/** Ten million characters, which a message must not repeat. */
export const TEN_MB = 'x'.repeat(10_000_000)

/** Numbers that are not whole numbers from 0, each with its text in a message. */
export const WRONG_NUMBERS: readonly (readonly [unknown, string])[] = [
  [Number.NaN, 'NaN'],
  [Infinity, 'Infinity'],
  [-Infinity, '-Infinity'],
  [-1, '-1'],
  [1.5, '1.5'],
  [2 ** 53, '9007199254740992'],
]

/** Values that are not numbers, each with its text in a message. */
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

/** Checks that a call throws an error of this library with a short message that contains all of `parts`. */
export function expectRefusal(call: () => unknown, ...parts: readonly (string | RegExp)[]): void {
  expectOurs(thrownBy(call), parts)
}

/** The text that an error of a call says to write: `'1/3s'` at the end of its message. */
export function adviceOf(call: () => unknown): string {
  const [, text] = /: write '([^']+)'$/.exec((thrownBy(call) as Error).message) ?? []
  expect(text).toBeDefined()
  return text
}

/** Checks the same of a promise that rejects. */
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
  expect(
    error instanceof TypeError || error instanceof RangeError,
    `not an error of this library: ${String(error)}`,
  ).toBe(true)
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
