/** Bun is no dependency: `npm run test:runtimes` gets it and says where it is. */
import { describe } from 'vitest'
import { runtimeSuite } from './runtime-suite.js'

const { SLUICE_BUN: command } = process.env

if (command === undefined) describe.todo('in Bun, by npm run test:runtimes')
else runtimeSuite('in Bun', command, ['run'])
