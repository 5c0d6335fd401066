#!/usr/bin/env node
/** The command `sluice`. */
import { run } from './run.js'

// Whoever reads us may stop early, as `head` does. That is no mistake of anybody.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(process.exitCode ?? 0)
  })
}

// A policy's own warnings are told with the rest, with lines.
process.removeAllListeners('warning')
process.on('warning', (warning: Error & { code?: string }) => {
  if (warning.code !== 'SLUICE_POLICY') process.stderr.write(`sluice: ${warning.message}\n`)
})

process.exitCode = await run(process.argv.slice(2), process)
