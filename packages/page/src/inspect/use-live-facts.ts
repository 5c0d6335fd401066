import { useEffect, useState } from 'preact/hooks'
import type { LiveRequest, LiveService } from '../../../service/src/live/live-events.js'
import { useAdminToken } from '../shell/admin-token.js'
import { listenLive } from '../shell/listen-live.js'

/** What the view needs of the live stream. */
export interface LiveFacts {
  /** Absent until the service has answered. */
  readonly service: LiveService | undefined
  /** The requests that were decided last, the newest first. */
  readonly requests: readonly LiveRequest[]
}

const MOST_REQUESTS = 50

/** Listens while the view is shown. A new token opens the stream again, because it decides whether keys are masked. */
export function useLiveFacts(): LiveFacts {
  const token = useAdminToken()
  const [facts, setFacts] = useState<LiveFacts>({ service: undefined, requests: [] })
  // The stream sends the token that there is when it opens.
  useEffect(() => {
    setFacts(({ service }) => ({ service, requests: [] }))
    return listenLive({
      hear(name, data) {
        if (name === 'hello') {
          const { service } = data as { readonly service: LiveService }
          setFacts((before) => ({ ...before, service }))
        } else if (name === 'requests') {
          const more = data as readonly LiveRequest[]
          setFacts((before) => ({ ...before, requests: merged(before.requests, more) }))
        }
      },
    })
  }, [token])
  return facts
}

function merged(before: readonly LiveRequest[], more: readonly LiveRequest[]): readonly LiveRequest[] {
  const byId = new Map([...before, ...more].map((request) => [request.id, request]))
  return [...byId.values()].sort((a, b) => b.atMs - a.atMs).slice(0, MOST_REQUESTS)
}
