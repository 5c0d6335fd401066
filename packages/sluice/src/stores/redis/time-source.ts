import { type Clock, systemClock } from '../../clock.js'
import { SCRIPT_BODY } from './script.js'

/** Where the script has its time from. */
export interface TimeSource {
  readonly script: string
  /** More arguments for every call of the script. */
  readonly extraArguments?: () => readonly string[]
  /** Runs as fast as that time does, whatever it says: for what must not be asked of Redis every time. */
  readonly clock: Clock
}

/** Redis's own clock, read once a call: the one clock of a whole fleet. */
export const redisTime: TimeSource = {
  script: `#!lua
local clock = redis.call('TIME')
local now, lingerMs = clock[1] * 1000000 + clock[2], 0
${SCRIPT_BODY}`,
  clock: systemClock,
}

/** A time that a test moves. Keys then outlive the test, for Redis would let them expire by its own clock. */
export function injectedTime(nowUs: () => number): TimeSource {
  return {
    script: `#!lua
local now, lingerMs = tonumber(ARGV[#ARGV]), 3600000
${SCRIPT_BODY}`,
    extraArguments: () => [String(nowUs())],
    clock: { now: () => nowUs() / 1000 },
  }
}
