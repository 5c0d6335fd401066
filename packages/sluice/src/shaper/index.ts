/** The leaky bucket as a queue. */
export { createShaper, type OwnShaperOptions, type ShaperNumbers, type SharedShaperOptions } from './create-shaper.js'
export type { CloseOptions, Shaper, Turn, TurnOptions } from './shaper.js'
