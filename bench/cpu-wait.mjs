import { openSync, readSync } from 'node:fs'

const buffer = Buffer.alloc(128)
const file = open()

/**
 * Milliseconds, since its start, that this process's main thread was ready to run but had to wait for a busy CPU. Linux
 * reports it (the second number of schedstat, in nanoseconds); on other systems it is always 0.
 */
export function cpuWaitMs() {
  if (file === undefined) return 0
  const size = readSync(file, buffer, 0, buffer.length, 0)
  return Number(buffer.latin1Slice(0, size).split(' ')[1]) / 1e6
}

function open() {
  try {
    return openSync(`/proc/self/task/${process.pid}/schedstat`)
  } catch {
    return undefined
  }
}
