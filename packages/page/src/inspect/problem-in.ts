import type { FieldProblem } from './action-form.js'

/**
 * What the library says of a value before the service is asked; `undefined` if nothing. The problem is that of `field`, or of
 * the option that the library names.
 */
export function problemIn(check: () => unknown, field?: string): FieldProblem | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    const { message, option } = error as Error & { readonly option?: string }
    return { field: field ?? option, message: `${message[0].toUpperCase()}${message.slice(1)}.` }
  }
}
