import type { NamedLimit } from 'sluice'
import type { LiveNews } from '../live/live-news.js'
import type { LiveSample, LiveWish } from '../live/live-sample.js'
import type { FleetFacts } from './fleet-worker.js'
import type { RefusedPolicy } from './policy-source.js'
import type { PolicyText } from './served-policy.js'
import type { Question, ToldError } from './threads/question.js'
import type { SharedFact } from './threads/shared-fact.js'

/**
 * What the first process or thread tells a worker: the policy to use from now on, and where to listen; that a policy was
 * refused; to report its metrics; the metrics of all workers; to take a sample for the page; the news of all workers; or to
 * shut down. All messages between processes are plain JSON, and those between threads are plain data.
 */
export type ToWorker =
  | {
      readonly policy: PolicyText
      readonly port: number
      readonly grpcPort?: number | undefined
      readonly fleet: FleetFacts
    }
  | { readonly refused: RefusedPolicy }
  | { readonly report: number }
  | { readonly scraped: number; readonly text: string }
  | { readonly sample: number; readonly wish: LiveWish }
  | { readonly news: LiveNews }
  | { readonly close: true }

/** What only a thread is told: what all threads must know, and the answers to its questions. */
export type ToThread =
  | { readonly facts: readonly SharedFact[] }
  | { readonly answered: number; readonly value: unknown }
  | { readonly answered: number; readonly error: ToldError }

/**
 * What a worker tells the first process or thread: that it waits for its policy, that it listens, or why it cannot; that it
 * wants the metrics of all workers, or the demo to begin or end; its own metrics; or its sample. Numbers tell scrapes apart, and samples.
 */
export type FromWorker =
  | { readonly awake: true }
  | { readonly listening: Listening }
  | { readonly failed: Failure }
  | { readonly scrape: number }
  | { readonly demo: boolean }
  | { readonly reported: number; readonly text: string }
  | { readonly sampled: number; readonly sample: LiveSample }

/** What only a thread says: a line of its log, what all threads must know, and questions. */
export type FromThread =
  | { readonly logged: string }
  | { readonly fact: { readonly limit: NamedLimit } }
  | { readonly asked: number; readonly question: Question }

/** Where a worker listens and on which store it decides. All workers of a service say the same. */
export interface Listening {
  readonly url: string
  /** Where it answers over gRPC, if it does: `grpc://127.0.0.1:8081`. */
  readonly grpcUrl: string | undefined
  /** The store as a person is told. */
  readonly store: string
}

/** Why a worker could not start. */
export interface Failure {
  readonly message: string
  readonly exitCode: number
}
