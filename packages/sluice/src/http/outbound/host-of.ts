/** The host of an URL, with its port. A dot at the end of a name only says that it is whole: it is the same host without. */
export function hostOf(url: string): string {
  return withoutLastDot(new URL(url).host)
}

/** The same of a host. */
export function withoutLastDot(host: string): string {
  return host.replace(/([^.])\.(:\d+)?$/, '$1$2')
}
