// Does one task, given as JSON, in a process of its own, and prints what it found, as JSON.
import { writeSync } from 'node:fs'
import { bytes } from './tasks/bytes.mjs'
import { pauses } from './tasks/pauses.mjs'
import { speed } from './tasks/speed.mjs'

const tasks = { speed, bytes, pauses }
const { task, ...options } = JSON.parse(process.argv[2])
writeSync(1, JSON.stringify(await tasks[task](options)))
// Nobody needs ten million keys to be cleared away.
process.exit()
