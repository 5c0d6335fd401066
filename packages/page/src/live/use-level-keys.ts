import { useEffect, useRef, useState } from 'preact/hooks'
import type { LiveTopKeys } from '../../../service/src/live/live-events.js'
import { useAdminToken } from '../shell/admin-token.js'
import { tokenFields } from '../shell/ask.js'
import { keepOpen } from './keep-open.js'
import { StreamLink } from './stream-link.js'

/**
 * The busiest keys of one level, from a stream of their own: the main stream has those of all levels together, and a quiet level
 * may have none among them. `undefined` until the first have come. While the view is paused they stay as they are.
 */
export function useLevelKeys(level: string | undefined, isPaused: boolean): LiveTopKeys | undefined {
  const token = useAdminToken()
  const [keys, setKeys] = useState<LiveTopKeys>()
  const isHeld = useRef(isPaused)
  isHeld.current = isPaused
  // Another token shows other keys.
  useEffect(() => {
    setKeys(undefined)
    if (level === undefined) return undefined
    const link = new StreamLink({
      path: `/v1/live?${new URLSearchParams({ level, events: 'keys' })}`,
      fields: tokenFields,
      onState() {},
      onEvent({ name, data }) {
        if (name === 'keys') setKeys((before) => (isHeld.current ? (before ?? data) : data))
      },
    })
    return keepOpen(link)
  }, [level, token])
  return keys
}
