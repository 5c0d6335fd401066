/** `sluice/http`: the parts of an adapter, for frameworks without one, and `shapedFetch` for calls to other servers. */
export {
  type ClientAddress,
  type ClientAddressOptions,
  clientAddress,
  type ReadField,
  type RequestReader,
} from './client-address.js'
export { type DescribeOptions, type Description, describe } from './describe.js'
export type { Dialect } from './dialect.js'
export { type EnterOptions, Guard } from './guard.js'
export type {
  GuardOptions,
  HandlerOptions,
  LimiterOptions,
  LimitOptions,
  Outcome,
  PolicyOptions,
  RateLimitOptions,
} from './guard-options.js'
export { mergeFields } from './merge-fields.js'
export { type ShapedFetch, shapedFetch } from './outbound/shaped-fetch.js'
export type {
  FetchCallOptions,
  FetchHostOptions,
  FetchRateOptions,
  FetchShaperOptions,
  ShapedFetchOptions,
} from './outbound/shaped-fetch-options.js'
export {
  type ParsedQuota,
  type ParsedRateLimit,
  type ParseRateLimitOptions,
  parseRateLimit,
} from './parse-rate-limit.js'
export type { Ending, Passage } from './passage.js'
export { rateLimitOf } from './rate-limit-of.js'
export { setCost } from './set-cost.js'
export { type ProxyTrust, type TrustedHops, type TrustedProxies, trustedProxies } from './trusted-proxies.js'
