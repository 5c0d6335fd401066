import { type RedisServer, startRedis } from '../../../../scripts/redis-server.mjs'

/** A store that doors decide on. */
export interface DoorStore {
  /** The end of a test's name. */
  readonly where: string
  /** Options of the command line for a service that shares no state with others. */
  settings(): Promise<Readonly<Record<string, string>>>
  stop(): Promise<void>
}

let redis: RedisServer | undefined
let services = 0

/** Every door answers the same on these: decided in the process alone, and on leases in front of Redis. */
export const DOOR_STORES: readonly DoorStore[] = [
  { where: 'on the embedded store', settings: async () => ({}), stop: async () => {} },
  {
    where: 'on leases of Redis',
    settings: async () => {
      redis ??= await startRedis()
      return { store: redis.url, lease: 'true', prefix: `door-${++services}:`, 'deadline-ms': '5000' }
    },
    stop: async () => {
      await redis?.stop()
      redis = undefined
    },
  },
]
