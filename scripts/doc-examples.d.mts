/** A fenced `ts` block of a document. */
export interface Example {
  /** The line where the code begins, from 1. */
  readonly line: number
  readonly flags: readonly string[]
  readonly code: string
}

export function examplesInMarkdown(markdown: string): Example[]
export function examplesInSource(source: string): Example[]
