import { type Clock, systemClock } from '../../clock.js'
import { SCRIPT_BODY } from './script.js'

/** A script, and the clock that it decides by. */
export interface TimeSource {
  readonly script: string
  /** More arguments for every call of the script. */
  readonly extraArguments?: () => readonly string[]
  /** A clock of this process that runs as fast as the script's. It may show another time. */
  readonly clock: Clock
}

/** The clock of Redis, read once for each call of the script. A whole fleet decides by it. */
export const redisTime: TimeSource = {
  script: `#!lua
local clock = redis.call('TIME')
local now, lingerMs = clock[1] * 1000000 + clock[2], 0
${SCRIPT_BODY}`,
  clock: systemClock,
}

/** A time that a test moves. Redis expires keys by its own clock, so keys live one hour longer than they need. */
export function injectedTime(nowUs: () => number): TimeSource {
  return {
    script: `#!lua
local now, lingerMs = tonumber(ARGV[#ARGV]), 3600000
${SCRIPT_BODY}`,
    extraArguments: () => [String(nowUs())],
    clock: { now: () => nowUs() / 1000 },
  }
}
