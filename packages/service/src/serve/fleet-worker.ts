import type { FromThread, FromWorker, ToThread, ToWorker } from './to-worker.js'

/** What the first process or thread tells every worker about the service. */
export interface FleetFacts {
  /** See `KeyMask`. */
  readonly maskSecret: string
  /** Of the first process. */
  readonly pid: number
  readonly startedMs: number
}

/** A worker as its fleet sees it: a process or a thread. */
export interface FleetWorker {
  /** Counts from 1. No two workers of a fleet have the same. */
  readonly id: number
  /** Tells the worker apart for an operator, in the log. */
  readonly facts: object
  /** A worker that has just ended cannot be told: its successor is told instead. */
  send(message: ToWorker | ToThread): void
  onMessage(hear: (message: FromWorker | FromThread) => void): void
  /** Calls `hear` once, after the last message. `how` is for the log. */
  onEnd(hear: (how: object) => void): void
  /** Ends it at once. */
  kill(): void
}

/** How a worker talks to the first process or thread. */
export interface FirstChannel {
  /** Calls `done` when the message is on its way: the worker may end then. */
  send(message: FromWorker, done?: () => void): void
  onMessage(hear: (message: ToWorker) => void): void
  /** Nothing is sent or heard any more. */
  close(): void
}

/** What the first thread does for all workers. Worker processes need none of it: they have Redis. */
export interface FleetCentre {
  /** Tells a worker what it must know before it serves. */
  greet(worker: FleetWorker): void
  /** Hears a message of a worker. `workers` are all that live, the speaker among them. */
  hear(message: FromThread, speaker: FleetWorker, workers: Iterable<FleetWorker>): void
  /** What is counted once for all workers. */
  metrics(): string
}
