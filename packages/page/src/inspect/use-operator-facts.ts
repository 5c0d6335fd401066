import { useCallback, useEffect, useState } from 'preact/hooks'
import type { Limit } from 'sluice/limits'
import type { PolicyAnswer } from '../../../service/src/live/inspect-answer.js'
import { useAdminToken } from '../shell/admin-token.js'
import { AskError, ask } from '../shell/ask.js'
import type { LevelData, ListedOverride } from './override-key.js'

/** A run-time override with its limits. */
export interface RunTimeOverride extends ListedOverride {
  readonly limits: readonly Limit[]
}

/** What only an admin is told: the policy's file, and the run-time overrides. */
export interface OperatorFacts {
  readonly policy: (PolicyAnswer & { readonly policy: { readonly levels: readonly LevelData[] } }) | undefined
  readonly overrides: readonly RunTimeOverride[]
  /** How many overrides there are; `overrides` may be fewer. */
  readonly total: number
  readonly error: string | undefined
  reload(): void
}

type Read = Omit<OperatorFacts, 'reload'>

const NOTHING: Read = { policy: undefined, overrides: [], total: 0, error: undefined }
/** A changed file and the end of an override are seen within this time. */
const EVERY_MS = 5_000
const MOST_OVERRIDES = 200

/** Asks while there is an admin token, and again from time to time. */
export function useOperatorFacts(): OperatorFacts {
  const token = useAdminToken()
  const [facts, setFacts] = useState(NOTHING)
  const reload = useCallback(async () => {
    if (token === undefined) return
    const next = await readFacts()
    setFacts((before) => ({ ...before, ...next }))
  }, [token])
  useEffect(() => {
    if (token === undefined) return setFacts(NOTHING)
    void reload()
    const timer = setInterval(() => document.visibilityState === 'visible' && void reload(), EVERY_MS)
    return () => clearInterval(timer)
  }, [token, reload])
  return { ...facts, reload }
}

async function readFacts(): Promise<Partial<Read>> {
  try {
    const [policy, { total, overrides }] = await Promise.all([
      ask<NonNullable<Read['policy']>>('/v1/admin/policy'),
      ask<{ readonly total: number; readonly overrides: readonly RunTimeOverride[] }>(
        `/v1/admin/overrides?limit=${MOST_OVERRIDES}`,
      ),
    ])
    return { policy, overrides, total, error: undefined }
  } catch (error) {
    return { error: error instanceof AskError ? error.message : 'The policy could not be read.' }
  }
}
