import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Limit } from 'sluice/limits'
import type { PolicyAnswer } from '../../../service/src/live/inspect-answer.js'
import { adminToken, useAdminToken } from '../shell/admin-token.js'
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
  const pending = useRef(0)
  const reload = useCallback(async () => {
    if (token === undefined) return
    pending.current++
    const next = await readFacts()
    pending.current--
    // An answer that comes after the token is gone is not shown.
    if (adminToken() === token) setFacts((before) => ({ ...before, ...next }))
  }, [token])
  useEffect(() => {
    // What was read with another token is not shown.
    setFacts(NOTHING)
    if (token === undefined) return
    void reload()
    const timer = setInterval(() => {
      if (pending.current === 0 && document.visibilityState === 'visible') void reload()
    }, EVERY_MS)
    return () => clearInterval(timer)
  }, [token, reload])
  return { ...facts, reload }
}

async function readFacts(): Promise<Partial<Read>> {
  try {
    // One after the other: a token that is wrong is tried once.
    const policy = await ask<NonNullable<Read['policy']>>('/v1/admin/policy')
    const { total, overrides } = await ask<Pick<Read, 'total' | 'overrides'>>(
      `/v1/admin/overrides?limit=${MOST_OVERRIDES}`,
    )
    return { policy, overrides, total, error: undefined }
  } catch (error) {
    return { error: error instanceof AskError ? error.message : 'The policy could not be read.' }
  }
}
