import { shown } from '../errors.js'

export { warn } from '../stores/warn.js'

/** What an error says, or whatever else was thrown, which may be anything. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : shown(error)
}
