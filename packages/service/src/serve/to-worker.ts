import type { PolicyText } from './policy-source.js'

/**
 * What the first process tells a worker: the policy to use from now on, and where to listen; that a policy was refused; to
 * report its metrics; the metrics of all workers; or to shut down. All messages between the processes are plain JSON.
 */
export type ToWorker =
  | { readonly policy: PolicyText; readonly port: number }
  | { readonly refused: true }
  | { readonly report: number }
  | { readonly scraped: number; readonly text: string }
  | { readonly close: true }

/**
 * What a worker tells the first process: that it waits for its policy, that it listens, or why it cannot; that it wants the
 * metrics of all workers; or its own metrics. Numbers tell scrapes apart.
 */
export type FromWorker =
  | { readonly awake: true }
  | { readonly listening: Listening }
  | { readonly failed: Failure }
  | { readonly scrape: number }
  | { readonly reported: number; readonly text: string }

/** Where a worker listens and on which store it decides. All workers of a service say the same. */
export interface Listening {
  readonly url: string
  /** The store as a person is told. */
  readonly store: string
}

/** Why a worker could not start. */
export interface Failure {
  readonly message: string
  readonly exitCode: number
}
