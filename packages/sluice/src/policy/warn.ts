/** Tells whoever runs the program of what nobody else can be told of. Where there is no Node.js, the console does. */
export function warn(message: string, code: string): void {
  const { process } = globalThis as {
    process?: { emitWarning?: (message: string, type: string, code: string) => void }
  }
  if (typeof process?.emitWarning === 'function') process.emitWarning(message, 'SluiceWarning', code)
  else console.warn(`[${code}] ${message}`)
}

/** What an error says, or whatever else was thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
