/** Policies: several limits that a request must pass together. */
export { createPolicy, type OwnPolicyOptions, type PolicyOn, type StoredPolicyOptions } from './create-policy.js'
export type { Explanation } from './explanation.js'
export type { Condition, ConditionValue, Level, Override, PolicyData, When } from './level.js'
export type { AttributeValue, PathValue } from './matching/facts.js'
export type { PathPattern } from './matching/path-pattern.js'
export type { Mismatch } from './mismatch.js'
export { mismatchText } from './mismatch-text.js'
export type {
  ActualCost,
  AsyncPolicy,
  AsyncPolicyReservation,
  AttributesOf,
  JointRequest,
  JointRequests,
  OverrideKey,
  OverrideOptions,
  Policy,
  PolicyBlockOptions,
  PolicyRefundOptions,
  PolicyRequest,
  PolicyReservation,
  PolicySetOptions,
  ResetOptions,
  RunTimeOverride,
} from './policy.js'
export type { ReadCondition } from './reading/read-conditions.js'
export type { ReadLevel } from './reading/read-level.js'
export type { ReadOverride } from './reading/read-overrides.js'
export { type ReadPolicy, readPolicy } from './reading/read-policy.js'
export type { JointVerdict, LevelDecision, Verdict } from './verdict.js'
