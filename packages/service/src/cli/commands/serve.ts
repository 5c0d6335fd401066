import { PolicyFileError } from '../../policy-file/policy-file-error.js'
import { createLog } from '../../serve/log.js'
import { readServeOptions, SERVE_OPTIONS } from '../../serve/serve-options.js'
import { startService } from '../../serve/start-service.js'
import { startSummary } from '../../serve/start-summary.js'
import { type Command, UsageError } from '../command.js'
import { parseOptions } from '../parse-options.js'

export const serve: Command = {
  summary: 'runs the decision service',
  usage: '[options]',
  about: 'Runs the decision service: other programs ask it over HTTP whether a request may go.',
  options: SERVE_OPTIONS,
  notes: `Each option with a value can be an environment variable instead: SLUICE_POLICY, SLUICE_STORE, SLUICE_ADMIN_TOKEN and
so on. SIGHUP reads the policy again. SIGTERM and SIGINT stop the service after the requests in flight.

Exit code: 0 after a shutdown; 1 if the policy or the port cannot be used; 2 if the command line is wrong.`,
  async run(args, io) {
    const { values, positionals } = parseOptions(args, SERVE_OPTIONS)
    if (positionals.length > 0)
      throw new UsageError(`serve takes options only, got '${positionals[0].slice(0, 60)}'; did you mean --policy?`)
    const options = readServeOptions(values as Record<string, string>, io.env)
    const form = options.log ?? (io.stdout.isTTY === true ? 'text' : 'json')
    const log = createLog(form, io.stdout)
    try {
      const running = await startService(options, log)
      io.stderr.write(startSummary(running, options))
      log.info({ url: running.url, store: running.store }, 'the service listens')
      const signal = await ended()
      log.info({ signal }, 'the service shuts down')
      await running.close()
      return 0
    } catch (error) {
      if (!(error instanceof PolicyFileError)) throw error
      io.stderr.write(`${error.message}\n`)
      return 1
    }
  },
}

/** The first signal that asks the process to end. A second one ends it at once. */
function ended(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal))
  })
}
