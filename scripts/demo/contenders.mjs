// The five algorithms with the numbers of the articles: a burst of 20, five a second sustained.
import { fixedWindow, leakyBucket, slidingLog, slidingWindow, tokenBucket } from 'sluice'

export const contenders = [
  { title: 'token bucket', note: '20, then 5/s', limit: tokenBucket({ capacity: 20, refill: '5/s' }) },
  { title: 'leaky bucket', note: 'queue of 20, 5/s', limit: leakyBucket({ capacity: 20, drain: '5/s' }) },
  { title: 'fixed window', note: '20 in 4 s', limit: fixedWindow({ quota: 20, window: '4s' }) },
  { title: 'sliding window', note: '20 in 4 s', limit: slidingWindow({ quota: 20, window: '4s' }) },
  { title: 'sliding log', note: '20 in 4 s', limit: slidingLog({ quota: 20, window: '4s' }) },
]
