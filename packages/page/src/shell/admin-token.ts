/**
 * The admin token, if the person has given it. It is kept for this tab only, and is sent to nothing but this service. A link
 * `#token=…`, which the service prints when it runs the demo, gives it too and is removed from the address at once.
 */
import { useEffect, useState } from 'preact/hooks'

const KEPT_AS = 'sluice.admin-token'
let token = keptToken()
let isRefused = false
takeFromAddress()
// In a tab that shows the page already, a link changes the address and loads nothing.
addEventListener('hashchange', takeFromAddress)

function keptToken(): string | undefined {
  try {
    return sessionStorage.getItem(KEPT_AS) ?? undefined
  } catch {
    // A browser may refuse storage.
    return undefined
  }
}

function takeFromAddress(): void {
  const given = /^#token=([^&]+)$/.exec(location.hash)?.[1]
  if (given === undefined) return
  history.replaceState(null, '', '#live')
  setAdminToken(decoded(given))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function adminToken(): string | undefined {
  return token
}

/** `undefined` forgets the token. */
export function setAdminToken(next: string | undefined): void {
  token = next
  isRefused = false
  try {
    if (next === undefined) sessionStorage.removeItem(KEPT_AS)
    else sessionStorage.setItem(KEPT_AS, next)
  } catch {
    // The token holds until the tab is closed.
  }
  dispatchEvent(new Event('tokenchange'))
}

/** The service has refused the token, or has taken it. Without a token there is none to refuse. */
export function setTokenRefused(refused: boolean): void {
  const next = refused && token !== undefined
  if (isRefused === next) return
  isRefused = next
  dispatchEvent(new Event('tokenchange'))
}

/** The token as it is now; draws again when it changes. */
export function useAdminToken(): string | undefined {
  return useCurrent(() => token)
}

/** Has the service refused the token? */
export function useIsTokenRefused(): boolean {
  return useCurrent(() => isRefused)
}

function useCurrent<Value extends string | boolean | undefined>(read: () => Value): Value {
  const [current, setCurrent] = useState(read)
  useEffect(() => {
    const hear = () => setCurrent(read())
    addEventListener('tokenchange', hear)
    // It may have changed since the first drawing.
    hear()
    return () => removeEventListener('tokenchange', hear)
  }, [])
  return current
}
