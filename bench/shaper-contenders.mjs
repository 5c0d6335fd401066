// The contenders that make jobs wait for their turn. A contender is a function of a rate, `perSecond`. It returns
// `{ run(work) }`, where `run` promises the result of the work, and spaces jobs as evenly as it can. A process loads only
// the contender that it measures.

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
