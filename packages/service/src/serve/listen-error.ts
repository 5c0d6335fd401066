import { UsageError } from '../cli/command.js'

/** Where a service listens. */
interface Address {
  readonly host: string
  readonly port: number
  /** The option that says so. */
  readonly option?: string
}

/** The error of a server that could not listen, in words that say what to do. An unknown error stays as it is. */
export function listenError(error: unknown, { host, port, option = 'http' }: Address): unknown {
  const reason = whyNotListening((error as NodeJS.ErrnoException).code, host, port, `--${option}`)
  return reason === undefined ? error : new UsageError(reason, 1)
}

function whyNotListening(code: string | undefined, host: string, port: number, option: string): string | undefined {
  if (code === 'EADDRINUSE')
    return `port ${port} is taken: another process listens on it; ${option} ${host}:0 takes a free port`
  if (code === 'EADDRNOTAVAIL') return `this machine has no address ${host}; ${option} 0.0.0.0:${port} takes all it has`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `there is no host ${host}; an address is safer than a name`
  if (code === 'EACCES') return `port ${port} may not be used by this user; take one above 1023`
  if (code === 'ENOTSUP')
    return (
      'this system does not let worker threads share a port; take --workers 1, or a Redis for processes, such as ' +
      '--store redis://localhost:6379'
    )
  return undefined
}
