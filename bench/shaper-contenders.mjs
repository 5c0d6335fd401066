// Who is compared where work waits for its turn. A contender is a function of a rate, `perSecond`, that gives
// `{ run(work) }`, which promises what the work gives; evenly spaced, as far as it can. Each is loaded only where it is
// measured, so that a process holds one of them.

export const shaperContenders = {
  sluice: {
    title: 'sluice',
    load: async () => (await import('./shaper-contenders/sluice.mjs')).sluice,
  },
  'p-queue': {
    title: 'p-queue',
    load: async () => (await import('./shaper-contenders/p-queue.mjs')).pQueue,
  },
  'p-throttle': {
    title: 'p-throttle',
    load: async () => (await import('./shaper-contenders/p-throttle.mjs')).throttle,
  },
  bottleneck: {
    title: 'bottleneck',
    load: async () => (await import('./shaper-contenders/bottleneck.mjs')).bottleneck,
  },
}

export const peers = Object.keys(shaperContenders).filter((contender) => contender !== 'sluice')
