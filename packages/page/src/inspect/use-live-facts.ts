import { useEffect, useState } from 'preact/hooks'
import type { LiveRequest, LiveService } from '../../../service/src/live/live-events.js'
import { keepOpen } from '../live/keep-open.js'
import { StreamLink } from '../live/stream-link.js'
import { setTokenRefused, useAdminToken } from '../shell/admin-token.js'
import { tokenFields } from '../shell/ask.js'

/** What the view needs of the live stream. */
export interface LiveFacts {
  /** Absent until the service has answered. */
  readonly service: LiveService | undefined
  /** The requests that were decided last, the newest first. */
  readonly requests: readonly LiveRequest[]
  /** Counts how often the service has read its policy file again: what was asked of the policy before is old. */
  readonly policyReads: number
}

/** Denied ones may be rare: so many of each outcome. */
const MOST_REQUESTS = 150

/** Listens while the view is shown. A new token opens the stream again, because it decides whether keys are masked. */
export function useLiveFacts(): LiveFacts {
  const token = useAdminToken()
  const [facts, setFacts] = useState<LiveFacts>({ service: undefined, requests: [], policyReads: 0 })
  // The stream sends the token that there is when it opens.
  useEffect(() => {
    setFacts((before) => ({ ...before, requests: [] }))
    const link = new StreamLink({
      fields: tokenFields,
      onState({ kind }) {
        if (kind === 'live' || kind === 'refused') setTokenRefused(kind === 'refused')
      },
      onEvent({ name, data }) {
        if (name === 'hello') setFacts((before) => ({ ...before, service: data.service }))
        else if (name === 'requests') setFacts((before) => ({ ...before, requests: merged(before.requests, data) }))
        else if (name === 'policy') setFacts((before) => ({ ...before, policyReads: before.policyReads + 1 }))
      },
    })
    return keepOpen(link)
  }, [token])
  return facts
}

function merged(before: readonly LiveRequest[], more: readonly LiveRequest[]): readonly LiveRequest[] {
  const byId = new Map([...before, ...more].map((request) => [request.id, request]))
  const newestFirst = [...byId.values()].sort((a, b) => b.atMs - a.atMs)
  const counts = { allowed: 0, denied: 0 }
  return newestFirst.filter(({ allowed }) => ++counts[allowed ? 'allowed' : 'denied'] <= MOST_REQUESTS)
}
