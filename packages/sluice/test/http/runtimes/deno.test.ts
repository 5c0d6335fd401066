import { getDeno } from '../../../../../scripts/runtimes/get-runtime.mjs'
import { runtimeSuite } from './runtime-suite.js'

runtimeSuite('in Deno', getDeno(), ['run', '--quiet', '--no-lock', '--allow-all'])
