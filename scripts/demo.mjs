// `npm run demo`: makes the clone ready, then draws five algorithms meeting the same traffic.
import { setUp } from './set-up.mjs'

setUp({ build: 'if changed' })
const { runDemo } = await import('./demo/demo.mjs')
await runDemo(process.stdout)
