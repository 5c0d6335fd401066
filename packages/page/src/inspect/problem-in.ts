/** What is wrong with what was typed in a field. */
export interface FieldProblem {
  /** Absent if it is no field's. */
  readonly field: string | undefined
  /** A sentence for the person who typed. */
  readonly message: string
}

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
