// What can be measured, in the order of RESULTS.md. A section is
//
//   name               what `npm run bench -- <name>` knows it by; the beginning of it is enough
//   title              its heading
//   measure({ full })  measures, and gives plain data without arrays; with `full` it may take its time
//   render(data)       the data as Markdown
//   goals(data)        what was to be reached: [{ goal, measured, reached }]
//   onlyIfNamed        true for one that is not measured with all others
import { httpSpeed } from './sections/http-speed.mjs'
import { memoryBytes } from './sections/memory-bytes.mjs'
import { memoryPauses } from './sections/memory-pauses.mjs'
import { memorySpeed } from './sections/memory-speed.mjs'
import { policyLatency, policySpeed } from './sections/policy.mjs'
import { redisBytes } from './sections/redis-bytes.mjs'
import { redisLatency } from './sections/redis-latency.mjs'
import { redisSpeed } from './sections/redis-speed.mjs'
import { shaper } from './sections/shaper.mjs'
import { shaperDepartures } from './sections/shaper-departures.mjs'
import { soak } from './sections/soak.mjs'

export const sections = [
  memorySpeed,
  memoryBytes,
  memoryPauses,
  policySpeed,
  redisSpeed,
  redisLatency,
  redisBytes,
  policyLatency,
  httpSpeed,
  shaper,
  shaperDepartures,
  soak,
]
