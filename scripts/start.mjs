// `npm start`: makes the clone ready, then runs the demo.
import { existsSync } from 'node:fs'
import { fail } from './run-command.mjs'
import { setUp } from './set-up.mjs'

setUp({ build: true })
if (!existsSync(new URL('./demo/demo.mjs', import.meta.url))) fail('The demo, scripts/demo/demo.mjs, is missing.')
const { runDemo } = await import('./demo/demo.mjs')
await runDemo(process.stdout)
