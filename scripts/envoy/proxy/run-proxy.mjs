// The cases with a real Envoy, one after the other. Each gets `start`, with which it starts what it needs; all that is stopped
// after it.
import { startRedis } from '../../redis-server.mjs'
import { startService } from '../start-service.mjs'
import { docsConfiguration } from './configuration.mjs'
import { policyCases } from './policy-cases.mjs'
import { ruleCases } from './rule-cases.mjs'
import { startEnvoy } from './start-envoy.mjs'
import { endTraffic, startApplication } from './traffic.mjs'
import { troubleCases } from './trouble-cases.mjs'

/** A warning about every configuration without an overload manager, which is none of our business. */
const OF_NO_CONCERN = 'no configured limit to the number of allowed active downstream connections'

/**
 * Runs all cases, and returns how many passed and the texts of those that failed.
 * @param {{ envoy: string, sluice: string, certificates: string | undefined }} programs
 */
export async function runProxy(programs) {
  const cases = { ...policyCases(programs), ...ruleCases(), ...troubleCases() }
  const failed = []
  const application = await startApplication()
  for (const [name, test] of Object.entries(cases)) {
    const began = performance.now()
    const problem = await runCase(test, programs, application)
    console.log(`  ${problem ? 'FAILED' : 'ok    '} ${name} (${Math.round(performance.now() - began)} ms)`)
    if (problem) failed.push(`${name}: ${problem}`)
  }
  endTraffic()
  await application.stop()
  return { passed: Object.keys(cases).length - failed.length, failed }
}

/** What went wrong, or undefined. */
async function runCase(test, { envoy, sluice }, application) {
  const started = []
  const keep = async (starting) => {
    const thing = await starting
    started.push(thing)
    return thing
  }
  const start = {
    redis: () => keep(startRedis()),
    service: (args, options) => keep(startService(sluice, args, options)),
    /** Envoy with the configuration of the docs, changed by a test, in front of Sluice at a port. */
    async envoy(port, change = () => {}) {
      const parts = docsConfiguration(application.port, port)
      change(parts)
      const started = await keep(startEnvoy(envoy, parts.configuration))
      const warnings = started.warnings.filter((line) => !line.includes(OF_NO_CONCERN))
      if (warnings.length > 0) throw new Error(`Envoy warns of its configuration: ${warnings.join('\n')}`)
      return started
    },
    keep,
  }
  try {
    await test(start)
    return undefined
  } catch (error) {
    return error.stack
  } finally {
    for (const thing of started.reverse()) {
      await thing.stop()
    }
    endTraffic()
  }
}
