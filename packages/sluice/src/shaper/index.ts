/** The leaky bucket as a queue. */
export {
  createShaper,
  type FleetShaperOptions,
  type OwnShaperOptions,
  type ShaperNumbers,
  type ShaperWithoutDrainOptions,
} from './create-shaper.js'
export type { CloseOptions, PausedCallers, PauseOptions, Shaper, Turn, TurnOptions } from './shaper.js'
