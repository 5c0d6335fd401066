import { setTimeout as pause } from 'node:timers/promises'

/** Waits until something is so, by looking again and again; after too long it says what never came to be. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>, withinMs = 8_000): Promise<void> {
  const endMs = performance.now() + withinMs
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`not within ${withinMs} ms: ${what}`)
    await pause(5)
  }
}
