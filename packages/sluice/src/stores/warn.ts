import { shown } from '../errors.js'

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
