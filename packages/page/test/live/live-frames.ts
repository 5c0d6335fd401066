import { tokenBucket } from 'sluice/limits'
import type { LiveFrame, LiveHello, LiveLevels } from '../../../service/src/live/live-events.js'

/** Levels with these names. A name that ends in `?` is a level in shadow. */
export function levelsOf(names: readonly string[], version = 1): LiveLevels {
  const levels = names.map((name) => ({
    name: name.replace('?', ''),
    limits: [tokenBucket({ capacity: 100, refill: '100/s' })],
    ...(name.endsWith('?') ? { shadow: true as const } : {}),
  }))
  return { version, policy: 'api', levels }
}

/** A frame of one second, without decisions unless `part` says so. */
export function frameOf(atMs: number, part: Partial<LiveFrame> = {}): LiveFrame {
  return {
    atMs,
    elapsedMs: 1_000,
    allowed: 0,
    denied: 0,
    errors: 0,
    degraded: 0,
    p50Ms: 0,
    p99Ms: 0,
    worstDelayMs: 0,
    workers: 1,
    version: 1,
    levels: [],
    ...part,
  }
}

/** The first event of a service that has these levels and frames. */
export function helloOf(part: Partial<LiveHello> = {}): LiveHello {
  return {
    service: {
      version: '1.0.0',
      host: 'host',
      pid: 1,
      startedMs: 0,
      workers: 1,
      store: 'memory',
      isExample: false,
      hasAdmin: false,
      isAdmin: false,
      attributes: [],
    },
    levels: levelsOf([]),
    policy: { problems: 0 },
    seconds: [],
    tens: [],
    ...part,
  }
}
