// The sections of RESULTS.md, in its order. A section is
//
//   name               the argument of `npm run bench -- <name>`; the beginning of it is enough
//   title              its heading
//   measure({ full })  measures, and returns plain data without arrays; with `full` it may run for many minutes
//   render(data)       the data as Markdown
//   goals(data)        the goals: [{ goal, measured, reached }]
//   onlyIfNamed        true for a section that runs only if it is named
import { abuse } from './sections/abuse.mjs'
import { envoyDoor } from './sections/envoy-door.mjs'
import { envoyLatency } from './sections/envoy-latency.mjs'
import { envoyRedis } from './sections/envoy-redis.mjs'
import { httpSpeed } from './sections/http-speed.mjs'
import { leases } from './sections/leases.mjs'
import { memoryBytes } from './sections/memory-bytes.mjs'
import { memoryPauses } from './sections/memory-pauses.mjs'
import { memorySpeed } from './sections/memory-speed.mjs'
import { ownHttp2 } from './sections/own-http2.mjs'
import { policyLatency, policySpeed } from './sections/policy.mjs'
import { redisBytes } from './sections/redis-bytes.mjs'
import { redisLatency } from './sections/redis-latency.mjs'
import { redisSpeed } from './sections/redis-speed.mjs'
import { service } from './sections/service.mjs'
import { serviceClient } from './sections/service-client.mjs'
import { shaper } from './sections/shaper.mjs'
import { shaperDepartures } from './sections/shaper-departures.mjs'
import { soak } from './sections/soak.mjs'
import { threads } from './sections/threads.mjs'

export const sections = [
  memorySpeed,
  memoryBytes,
  memoryPauses,
  threads,
  policySpeed,
  redisSpeed,
  redisLatency,
  redisBytes,
  leases,
  policyLatency,
  httpSpeed,
  ownHttp2,
  service,
  serviceClient,
  envoyDoor,
  envoyRedis,
  envoyLatency,
  shaper,
  shaperDepartures,
  soak,
  abuse,
]
