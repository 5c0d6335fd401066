import { createPolicy, memoryStore, type SyncStore } from 'sluice'
import { ManualClock } from 'sluice/testing'
import {
  type DescriptorStatus,
  type RateLimitDescriptor,
  type RateLimitOverride,
  type RateLimitResponse,
  UNITS,
} from '../../src/envoy/rate-limit-request.js'
import { type EnvoyPolicyFile, parseEnvoyRules, type RulesOptions } from '../../src/envoy-rules/parse-envoy-rules.js'
import { type Decided, RulesDecider } from '../../src/envoy-rules/rules-decider.js'

/** A Thursday, half past the hour. */
const START = Date.UTC(2026, 10, 19, 12, 30, 30)

/** Rules from YAML texts, the first of which is `rules/0.yaml`. */
export function rulesOf(...texts: readonly string[]): EnvoyPolicyFile {
  return rulesWith({}, ...texts)
}

function rulesWith(options: RulesOptions, ...texts: readonly string[]): EnvoyPolicyFile {
  return parseEnvoyRules(
    'rules',
    texts.map((text, i) => ({ file: `rules/${i}.yaml`, text })),
    options,
  )
}

export interface RulesHere {
  readonly clock: ManualClock
  readonly file: EnvoyPolicyFile
  readonly policy: ReturnType<typeof createPolicy>
  /** Asks with descriptors written `key=value key=value`. */
  ask(...descriptors: readonly (string | AskedDescriptor)[]): Answer
  decider: RulesDecider
}

export interface AskedDescriptor {
  readonly of: string
  readonly hits?: number
  readonly refund?: boolean
  readonly limit?: RateLimitOverride
}

/** An answer in short: `OK`, and `OK 4` for each status with what remains. */
export interface Answer {
  readonly response: RateLimitResponse
  readonly overall: string
  readonly codes: readonly string[]
  readonly statuses: readonly DescriptorStatus[]
}

/** A decider for rules on a store in memory with a clock that stands still. */
export function rulesHere(
  texts: string | readonly string[],
  domain = 'test',
  decided?: Decided,
  options: RulesOptions = {},
): RulesHere {
  const clock = new ManualClock(START)
  const file = rulesWith(options, ...(typeof texts === 'string' ? [texts] : texts))
  const store: SyncStore = memoryStore({ clock })
  const policy = createPolicy({ ...file.policy, name: 'envoy', store })
  const decider = new RulesDecider({
    inForce: () => ({ rules: file.envoy, policy }),
    nowMs: () => clock.now(),
    headers: 'draft',
    ...(decided !== undefined && { decided }),
  })
  const ask = (...descriptors: readonly (string | AskedDescriptor)[]) =>
    answerOf(
      decider.shouldRateLimit({
        domain,
        descriptors: descriptors.map(descriptorOf),
        hitsAddend: 0,
      }) as RateLimitResponse,
    )
  return { clock, file, policy: policy as never, ask, decider }
}

export function descriptorOf(asked: string | AskedDescriptor): RateLimitDescriptor {
  const { of, hits, refund = false, limit } = typeof asked === 'string' ? ({ of: asked } as AskedDescriptor) : asked
  return {
    entries: of
      .split(' ')
      .filter((word) => word !== '')
      .map((word) => {
        const at = word.indexOf('=')
        return { key: word.slice(0, at), value: word.slice(at + 1) }
      }),
    isNegativeHits: refund,
    ...(hits !== undefined && { hitsAddend: hits }),
    ...(limit !== undefined && { limit }),
  }
}

export function answerOf(response: RateLimitResponse): Answer {
  const codeText = (code: number) => ['UNKNOWN', 'OK', 'OVER_LIMIT'][code]
  const { statuses } = response
  return {
    response,
    overall: codeText(response.overallCode),
    codes: statuses.map(({ code, currentLimit, limitRemaining }) =>
      currentLimit === undefined && limitRemaining === 0
        ? `${codeText(code)} no limit`
        : `${codeText(code)} ${limitRemaining}`,
    ),
    statuses,
  }
}

export { UNITS }
