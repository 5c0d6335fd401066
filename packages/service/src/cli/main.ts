#!/usr/bin/env node
/** The command `sluice`. */
import { run } from './run.js'

// The reader of the output may stop early, as `head` does. That is not an error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(process.exitCode ?? 0)
  })
}

// A process warning is one line, without Node's advice about --trace-warnings.
process.removeAllListeners('warning')
process.on('warning', ({ message }) => process.stderr.write(`sluice: ${message}\n`))

process.exitCode = await run(process.argv.slice(2), process)
