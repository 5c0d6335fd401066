/**
 * The admin token, if the person has given it. It is kept for this tab only, and is sent to nothing but this service. A link
 * `#token=…`, which the service prints when it runs the demo, gives it too and is removed from the address at once.
 */
import { useEffect, useState } from 'preact/hooks'

const KEPT_AS = 'sluice.admin-token'
let token = keptToken()
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
  try {
    if (next === undefined) sessionStorage.removeItem(KEPT_AS)
    else sessionStorage.setItem(KEPT_AS, next)
  } catch {
    // The token holds until the tab is closed.
  }
  dispatchEvent(new Event('tokenchange'))
}

/** The token as it is now; draws again when it changes. */
export function useAdminToken(): string | undefined {
  const [current, setCurrent] = useState(token)
  useEffect(() => {
    const hear = () => setCurrent(token)
    addEventListener('tokenchange', hear)
    // It may have changed since the first drawing.
    hear()
    return () => removeEventListener('tokenchange', hear)
  }, [])
  return current
}

/**
 * How a person gets to what only the admin token shows, as the beginning of a sentence: `${tokenWords(hasAdmin)} to see them.` A
 * service without a token refuses every one, so there it is no use to give one.
 */
export function tokenWords(hasAdmin: boolean): string {
  return hasAdmin ? WITH_TOKEN : WITHOUT_TOKEN
}

const WITH_TOKEN = 'Give the admin token (Viewer, at the top)'
const WITHOUT_TOKEN = 'Start the service with --admin-token'
