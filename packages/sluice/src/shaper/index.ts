/** The leaky bucket as a queue. */
export {
  createShaper,
  type OwnShaperOptions,
  type ShaperNumbers,
  type SharedShaperOptions,
  type UnratedShaperOptions,
} from './create-shaper.js'
export type { CloseOptions, PausedCallers, PauseOptions, Shaper, Turn, TurnOptions } from './shaper.js'
