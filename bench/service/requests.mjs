import { requestFor } from '../policies.mjs'
import { postRequest } from './load.mjs'

const KEYS = 10_000
const DIFFERENT = 2_000
const BATCH = 100

const bucket = { algorithm: 'token-bucket', capacity: 100_000, refill: '10/s' }

/** Four levels that match every request and deny none. */
export const policy = {
  version: 1,
  name: 'bench',
  levels: [
    { name: 'global', limit: { algorithm: 'token-bucket', capacity: 1e9, refill: '1000000/s' } },
    { name: 'merchant', key: ['merchant'], limit: bucket },
    { name: 'charges', when: { method: 'POST', path: '/v1/charges' }, key: ['merchant'], limit: bucket },
    { name: 'ip', key: ['ip'], limit: bucket },
  ],
}

/** A function that returns the bytes of the next request to `/v1/check`. */
export function singleRequests() {
  return inTurn(DIFFERENT, (i) => postRequest('/v1/check', { attributes: requestFor((i * 7) % KEYS) }))
}

/** A function that returns the bytes of the next request to `/v1/check/batch`. */
export function batchRequests() {
  const checkAt = (i) => ({ attributes: requestFor(i % KEYS) })
  return inTurn(DIFFERENT / 10, (i) =>
    postRequest('/v1/check/batch', { checks: Array.from({ length: BATCH }, (_, j) => checkAt(i * BATCH + j)) }),
  )
}

function inTurn(count, make) {
  const requests = Array.from({ length: count }, (_, i) => make(i))
  let next = 0
  return () => requests[next++ % count]
}
