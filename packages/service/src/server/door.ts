import type { Exchange } from './exchange.js'

/** Answers an exchange, or throws. A `Problem` is told to the client. */
export type Handler = (exchange: Exchange) => void | Promise<void>

/**
 * A way into the service: it translates requests and answers, and decides nothing itself. A file of `doors/` exports a
 * function that makes its door from the service that the door asks: `checkDoor(service)`. `start-service.ts` lists all
 * doors, and the server asks the one that has the route of a request.
 *
 * Every route is described in `openapi/`, in the file of its door; a test fails if one is missing. So `/openapi.json` and
 * `/docs` always say what the service answers.
 */
export interface Door {
  /** The name of the door in metrics and in the description of the API, such as `check`. */
  readonly name: string
  /**
   * Handlers by method and path, such as `'POST /v1/check'`. The path is compared as a whole: there are no patterns.
   *
   * The method `ANY` answers every method that the path has no handler for. A handler of `GET` also answers `HEAD`.
   */
  readonly routes: Readonly<Record<string, Handler>>
  /** As `routes`, for files whose names change with every build. They are part of no description. */
  readonly files?: Readonly<Record<string, Handler>>
  /** Ends answers that would not end by themselves. Called when the service stops accepting requests. */
  close?(): void
  /** Resolves when its requests hold nothing any more. Called after the last connection has ended, before the store closes. */
  settled?(): Promise<void>
}
