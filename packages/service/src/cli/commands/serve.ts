import cluster from 'node:cluster'
import { constants } from 'node:os'
import { PolicyFileError } from '../../policy-file/policy-file-error.js'
import type { Logger } from '../../serve/log.js'
import { misspeltVariables, readServeOptions, SERVE_OPTIONS, type ServeOptions } from '../../serve/serve-options.js'
import { startFacts, startSummary } from '../../serve/start-summary.js'
import { withDemo } from '../../serve/with-demo.js'
import { type Command, type CommandIo, UsageError } from '../command.js'
import { parseOptions } from '../parse-options.js'

export const serve: Command = {
  summary: 'runs the decision service',
  usage: '[options]',
  about: 'Runs the decision service: other programs ask it over HTTP whether a request may go.',
  options: SERVE_OPTIONS,
  notes: `Each option with a value, --lease and --envoy-…, can be an environment variable instead: SLUICE_POLICY, SLUICE_STORE,
SLUICE_ADMIN_TOKEN and so on. A changed policy file is put in force at once, and SIGHUP reads it again. A bad file is logged, and the last good
policy stays. SIGTERM and SIGINT stop the service after the requests in flight; a second one stops it at once.

Exit code: 0 after a shutdown; 1 if the policy or the port cannot be used; 2 if the command line is wrong.`,
  async run(args, io) {
    const { values, positionals } = parseOptions(args, SERVE_OPTIONS)
    if (positionals.length > 0)
      throw new UsageError(`serve takes options only, got '${positionals[0].slice(0, 60)}'; did you mean --policy?`)
    const { json, ...texts } = values
    const options = withDemo(readServeOptions(texts, io.env))
    const form = options.log ?? (io.stdout.isTTY === true && json === undefined ? 'text' : 'json')
    // Loaded here and not above, so that the other commands start without the server, the log and the Redis client.
    const { createLog } = await import('../../serve/log.js')
    const log = createLog(form, json === undefined ? io.stdout : io.stderr)
    const signals = new EndSignals()
    try {
      if (cluster.isWorker) {
        const { runWorker } = await import('../../serve/run-worker.js')
        const { processChannel } = await import('../../serve/start-worker-process.js')
        const place = { channel: processChannel(), ended: signals.first }
        await runWorker(options, log.child({ worker: cluster.worker?.id }), place)
      } else await serveUntil(signals, options, log, { io, isJson: json === true })
      return 0
    } catch (error) {
      if (!(error instanceof PolicyFileError)) throw error
      io.stderr.write(`${error.message}\n`)
      return 1
    } finally {
      signals.close()
    }
  },
}

interface Output {
  readonly io: CommandIo
  readonly isJson: boolean
}

async function serveUntil(signals: EndSignals, options: ServeOptions, log: Logger, output: Output): Promise<void> {
  const { io, isJson } = output
  for (const advice of misspeltVariables(io.env)) log.warn(advice)
  const { startServing } = await import('../../serve/start-serving.js')
  const serving = await startServing(options, log)
  signals.onHangUp = () => void serving.reload()
  if (isJson) io.stdout.write(`${JSON.stringify(startFacts(serving, options))}\n`)
  else io.stderr.write(startSummary(serving, options))
  log.info(
    { url: serving.url, grpc: serving.grpcUrl, store: serving.store, workers: options.workers },
    'the service listens',
  )
  const signal = await signals.first
  signals.onSecond = () => serving.kill()
  log.info({ signal }, 'the service shuts down')
  await serving.close()
  log.info('the service has shut down')
}

/** A signal that follows this soon is the same wish: a terminal and `npm start` both pass Ctrl-C on. */
const SAME_WISH_MS = 300

/** The signals that the command hears from its start to its end. */
class EndSignals {
  /** Resolves with the first signal that asks the process to end. */
  readonly first: Promise<NodeJS.Signals>
  /** Called before a second one ends the process. */
  onSecond = () => {}
  /** Called for SIGHUP. A worker does nothing then: the first process reads the policy and passes it on. */
  onHangUp = () => {}
  readonly #onSignal: (signal: NodeJS.Signals) => void

  constructor() {
    let resolveFirst: (signal: NodeJS.Signals) => void
    this.first = new Promise((resolve) => {
      resolveFirst = resolve
    })
    let firstMs: number | undefined
    this.#onSignal = (signal) => {
      if (signal === 'SIGHUP') return this.onHangUp()
      firstMs ??= performance.now()
      resolveFirst(signal)
      if (performance.now() - firstMs < SAME_WISH_MS) return
      this.onSecond()
      process.exit(128 + constants.signals[signal])
    }
    for (const signal of SIGNALS) process.on(signal, this.#onSignal)
  }

  close(): void {
    for (const signal of SIGNALS) process.off(signal, this.#onSignal)
  }
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
