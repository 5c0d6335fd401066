import { UsageError } from '../cli/command.js'
import { parsePolicyFile } from '../policy-file/parse-policy-file.js'
import type { Log } from './log.js'
import type { ServeOptions } from './serve-options.js'
import { type RunningService, startService } from './start-service.js'
import type { FromWorker, ToWorker } from './to-worker.js'

/**
 * Serves as one of several processes. Starts with the first policy that the first process sends, and resolves when that
 * process tells it to shut down, when `ended` resolves, or when it cannot start.
 */
export async function runWorker(options: ServeOptions, log: Log, ended: Promise<unknown>): Promise<void> {
  let running: Promise<RunningService> | undefined
  const scrapes = new Map<number, (text: string) => void>()
  const closed = new Promise<void>((resolve) => {
    process.on('message', (message: ToWorker) => {
      if ('close' in message) return resolve()
      if ('scraped' in message) return scrapes.get(message.scraped)?.(message.text)
      if (!('policy' in message))
        return void running?.then(({ service: { recorder } }) => {
          if ('report' in message) tellFirst({ reported: message.report, text: recorder.prometheus() })
          else recorder.reloaded('refused')
        })
      const { policy: given, port } = message
      const policy = parsePolicyFile(given.text, given)
      if (running !== undefined) return void running.then(({ service }) => service.use(policy))
      running = startService({ ...options, port }, log, policy)
      running.then(
        ({ service, url, store }) => {
          service.recorder.scrape = () => scrapeAll(scrapes)
          tellFirst({ listening: { url, store } })
        },
        (error: Error) => {
          const exitCode = error instanceof UsageError ? error.exitCode : 1
          tellFirst({ failed: { message: error.message, exitCode } }, resolve)
        },
      )
    })
  })
  tellFirst({ awake: true })
  await Promise.race([closed, ended])
  await (await running?.catch(() => undefined))?.close()
  process.disconnect?.()
}

/** The metrics of all workers, from the first process. */
function scrapeAll(scrapes: Map<number, (text: string) => void>): Promise<string> {
  const scrape = ++lastScrape
  return new Promise<string>((resolve) => {
    scrapes.set(scrape, resolve)
    tellFirst({ scrape })
  }).finally(() => scrapes.delete(scrape))
}

let lastScrape = 0

function tellFirst(message: FromWorker, done: () => void = () => {}): void {
  process.send?.(message, undefined, undefined, done)
}
