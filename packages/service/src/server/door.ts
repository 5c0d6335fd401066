import type { Exchange } from './exchange.js'

/** Answers an exchange, or throws. A `Problem` is told to the client. */
export type Handler = (exchange: Exchange) => void | Promise<void>

/** A way into the service: it translates requests and answers, and decides nothing itself. */
export interface Door {
  /** The name in metrics, such as `check`. */
  readonly name: string
  /** Handlers by method and path: `'POST /v1/check'`. The method `ANY` answers every method. */
  readonly routes: Readonly<Record<string, Handler>>
  /** Ends answers that would not end by themselves. Called when the service stops accepting requests. */
  close?(): void
}
