// The policies to compare, by name. `levels({ capacity })` returns their levels.
import { tokenBucket } from 'sluice'

const OTHERS = 996
const OVERRIDES = 100_000

export const policies = {
  one: { title: 'one level', levels: (limit) => [merchant(limit)] },
  four: { title: 'four levels', levels: four },
  thousand: { title: '1,000 levels, four of them match', levels: (limit) => [...four(limit), ...others(limit)] },
  overridden: {
    title: 'four levels, one with 100,000 overrides',
    levels: (limit) => four(limit).map((level) => (level.name === 'merchant' ? withOverrides(level, limit) : level)),
  },
}

/** A request of the merchant with this number. Every level of `four` matches it. */
export function requestFor(id) {
  return {
    method: 'POST',
    path: '/v1/charges',
    merchant: `acct_${id}`,
    ip: `10.${(id >> 16) & 255}.${(id >> 8) & 255}.${id & 255}`,
  }
}

function four(limit) {
  return [
    { name: 'global', limit: tokenBucket({ capacity: 1e9, refill: '1000000/s' }) },
    merchant(limit),
    { name: 'charges', when: { method: 'POST', path: '/v1/charges' }, key: ['merchant'], limit: bucket(limit, 1) },
    { name: 'ip', key: ['ip'], limit: bucket(limit) },
  ]
}

function merchant(limit) {
  return { name: 'merchant', key: ['merchant'], limit: bucket(limit) }
}

/** Levels of a large API: by method and path, some with a parameter in the path. */
function others(limit) {
  return Array.from({ length: OTHERS }, (_, i) => ({
    name: `route-${i}`,
    when: { method: ['POST', 'GET'][i % 2], path: `/v1/resource-${i}${['', '/:id', '/:id/**'][i % 3]}` },
    key: ['merchant'],
    limit: bucket(limit, 1),
  }))
}

function withOverrides(level, limit) {
  const overrides = Array.from({ length: OVERRIDES }, (_, i) => ({
    when: { merchant: `acct_raised_${i}` },
    limit: bucket({ capacity: limit.capacity + 1 }),
  }))
  return { ...level, overrides }
}

/** Refills so slowly that no bucket is full again before the end. An endpoint gets a little less than its merchant. */
function bucket({ capacity }, less = 0) {
  return tokenBucket({ capacity: Math.max(1, capacity - less), refill: '1/h' })
}
