/** Limits that a request must pass all together. */
export { createPolicy, type OwnPolicyOptions, type StoredPolicyOptions } from './create-policy.js'
export type { Explanation } from './explain.js'
export type { Condition, ConditionValue, Level, Override, PolicyData, When } from './level.js'
export type { AttributeValue, PathValue } from './matching/facts.js'
export type {
  ActualCost,
  AsyncPolicy,
  AsyncPolicyReservation,
  AttributesOf,
  LevelDecision,
  OverrideKey,
  OverrideOptions,
  Policy,
  PolicyRequest,
  PolicyReservation,
  ResetOptions,
  Verdict,
} from './policy.js'
export { type ReadPolicy, readPolicy } from './reading/read-policy.js'
