import { systemClock } from 'sluice'
import { UsageError } from '../cli/command.js'
import type { DecisionService } from './decision-service.js'
import type { FirstChannel } from './fleet-worker.js'
import type { Log } from './log.js'
import type { OpenedStore } from './open-store.js'
import type { ServeOptions } from './serve-options.js'
import { parseServed } from './served-policy.js'
import { type RunningService, startService } from './start-service.js'
import type { ToWorker } from './to-worker.js'

/** Where a worker runs: in a process or a thread. */
interface WorkerPlace {
  readonly channel: FirstChannel
  /** Resolves if the worker is to end without having been told. */
  readonly ended: Promise<unknown>
  /** Default: the store of the options. */
  readonly opened?: OpenedStore
}

/**
 * Serves as one of several workers. Starts with the first policy that the first process or thread sends, and resolves when
 * that tells it to shut down, when `ended` resolves, or when it cannot start.
 */
export async function runWorker(options: ServeOptions, log: Log, place: WorkerPlace): Promise<void> {
  const { channel, ended, opened } = place
  let running: Promise<RunningService> | undefined
  const scrapes = new Scrapes(channel)
  const closed = new Promise<void>((resolve) => {
    channel.onMessage((message: ToWorker) => {
      if ('close' in message) return resolve()
      if ('scraped' in message) return scrapes.end(message.scraped, message.text)
      if (!('policy' in message)) return void running?.then(({ service }) => answer(service, message, channel))
      const { policy: given, port, grpcPort, fleet } = message
      const policy = parseServed(given)
      if (running !== undefined) return void running.then(({ service }) => service.use(policy))
      const grpc = options.grpc && { ...options.grpc, port: grpcPort ?? options.grpc.port }
      running = startService({ ...options, port, grpc, fleet }, log, policy, opened)
      running.then(
        ({ service, url, grpcUrl, store }) => {
          service.recorder.scrape = () => scrapes.begin()
          if (options.demo) service.switchDemo = (isRunning) => channel.send({ demo: isRunning })
          channel.send({ listening: { url, grpcUrl, store } })
        },
        (error: Error) => {
          const exitCode = error instanceof UsageError ? error.exitCode : 1
          channel.send({ failed: { message: error.message, exitCode } }, resolve)
        },
      )
    })
  })
  channel.send({ awake: true })
  await Promise.race([closed, ended])
  await (await running?.catch(() => undefined))?.close()
  channel.close()
}

/** Does what the first process or thread wants of a service that runs. */
function answer(service: DecisionService, message: ToWorker, channel: FirstChannel): void {
  const { recorder } = service
  if ('report' in message) channel.send({ reported: message.report, text: recorder.prometheus() })
  else if ('sample' in message)
    channel.send({ sampled: message.sample, sample: recorder.sample(systemClock.now(), message.wish) })
  else if ('news' in message) recorder.board.hear(message.news)
  else if ('refused' in message) service.refuse(message.refused)
}

/** Scrapes that this worker was asked for, and that wait for the metrics of all workers. */
class Scrapes {
  readonly #channel: FirstChannel
  readonly #waiting = new Map<number, (text: string) => void>()
  #last = 0

  constructor(channel: FirstChannel) {
    this.#channel = channel
  }

  /** The metrics of all workers, from the first process or thread. */
  begin(): Promise<string> {
    const scrape = ++this.#last
    return new Promise<string>((resolve) => {
      this.#waiting.set(scrape, resolve)
      this.#channel.send({ scrape })
    })
  }

  end(scrape: number, text: string): void {
    this.#waiting.get(scrape)?.(text)
    this.#waiting.delete(scrape)
  }
}
