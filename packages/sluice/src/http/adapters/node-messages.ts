/** As much of Node.js's requests and responses as is needed, of HTTP/1 and HTTP/2 alike. */

export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  readonly socket: {
    readonly remoteAddress?: string | undefined
    readonly destroyed?: boolean
    once?(event: 'close', listener: () => void): unknown
  }
}

/** Where a connection comes from. Of one that is closed nobody knows, which is not the same as a Unix socket's nothing. */
export function remoteAddressOf(socket: NodeRequest['socket']): string | undefined {
  const { remoteAddress } = socket
  return remoteAddress === undefined && socket.destroyed === true ? '' : remoteAddress
}

export interface NodeResponse {
  statusCode: number
  readonly headersSent: boolean
  readonly writableFinished: boolean
  readonly destroyed?: boolean
  readonly closed?: boolean
  readonly req?: { readonly method?: string | undefined }
  /** Of HTTP/2. */
  readonly stream?: { readonly destroyed: boolean } | undefined
  hasHeader(name: string): boolean
  getHeader(name: string): number | string | string[] | undefined
  setHeader(name: string, value: string): unknown
  appendHeader(name: string, value: string): unknown
  // biome-ignore lint/suspicious/noExplicitAny: overloaded, and only wrapped
  write: (...given: any[]) => any
  // biome-ignore lint/suspicious/noExplicitAny: overloaded, and only wrapped
  end: (...given: any[]) => any
  once(event: 'close', listener: () => void): unknown
  off(event: 'close', listener: () => void): unknown
}
