// Read once, because the global is a getter and only the clock is to be measured.
const { performance } = globalThis
const originMs = performance.timeOrigin

/** Reads the clock as sluice does, and decides nothing. */
export function clock() {
  return {
    ask: (key) => key.charCodeAt(key.length - 1) + originMs + performance.now(),
    isAllowed: (nowMs) => nowMs > 0,
  }
}
