/**
 * The part of the address behind `#`: the view, and what the view shows. `#live?window=5m&level=charges`. Browsers do not send
 * it, so what a person types into the page is in no log of a server.
 */
import { useEffect, useState } from 'preact/hooks'

/** The views of the page. */
export const VIEWS = ['live', 'inspect', 'lab'] as const

export type View = (typeof VIEWS)[number]

/** Where the page is. Values are texts: a view reads them, and puts its defaults in place of those that it cannot read. */
export interface PageAddress {
  readonly view: View
  readonly values: Readonly<Record<string, string>>
}

/** Reads the part behind `#`. A view that does not exist is `live`. */
export function readAddress(hash: string): PageAddress {
  const [name, query = ''] = hash.replace(/^#/, '').split(/\?(.*)/s)
  const view = VIEWS.find((each) => each === name) ?? 'live'
  return { view, values: Object.fromEntries(new URLSearchParams(query)) }
}

/** Writes the part behind `#`. Values that are absent or empty are left out. */
export function writeAddress(view: View, values: Readonly<Record<string, string | undefined>>): string {
  const kept = Object.entries(values).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '',
  )
  const query = new URLSearchParams(kept).toString()
  return query === '' ? `#${view}` : `#${view}?${query}`
}

/** Changes values of the address in place: the button "back" leads to the view before, not to the value before. */
export function changeAddress(values: Readonly<Record<string, string | undefined>>): void {
  const { view, values: before } = readAddress(location.hash)
  history.replaceState(null, '', writeAddress(view, { ...before, ...values }))
  // `replaceState` tells no listener.
  dispatchEvent(new HashChangeEvent('hashchange'))
}

/** The address as it is now; draws again when it changes. */
export function useAddress(): PageAddress {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const hear = () => setHash(location.hash)
    addEventListener('hashchange', hear)
    // It may have changed since the first drawing.
    hear()
    return () => removeEventListener('hashchange', hear)
  }, [])
  return readAddress(hash)
}
