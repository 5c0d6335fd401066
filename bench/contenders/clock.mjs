// Held, because the global is a getter, and what is to be measured is the clock.
const { performance } = globalThis
const originMs = performance.timeOrigin

/** Reads the clock that sluice reads, and decides nothing. */
export function clock() {
  return {
    ask: (key) => key.charCodeAt(key.length - 1) + originMs + performance.now(),
    isAllowed: (nowMs) => nowMs > 0,
  }
}
