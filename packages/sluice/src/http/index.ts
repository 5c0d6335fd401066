/** `sluice/http`: what every adapter is made of, for those who write one, and `fetch` for calls to others. */
export { type ClientAddress, type ClientAddressOptions, clientAddress, type ReadField } from './client-address.js'
export { type DescribeOptions, type Description, describe } from './describe.js'
export type { Dialect } from './dialects.js'
export { Guard, type Passage } from './guard.js'
export type { GuardOptions, HandlerOptions, LimitOptions, Outcome, PolicyOptions } from './guard-options.js'
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
export { setCost } from './request-cost.js'
export type { RequestReader } from './request-facts.js'
