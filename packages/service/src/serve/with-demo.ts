import { randomBytes } from 'node:crypto'
import type { ServeOptions } from './serve-options.js'

/**
 * The options of `sluice serve` with the demo decided. It runs by default if a person looks around: with the example policy,
 * on the memory store. The page shows more with an admin token, so a demo that only this machine can reach makes one up for
 * its run, unless there is one.
 */
export function withDemo(options: ServeOptions): ServeOptions {
  const { policy, envoyConfig, store, page, adminToken, host } = options
  const isExample = policy === undefined && envoyConfig === undefined
  const demo = options.demo ?? (isExample && store === 'memory' && page)
  if (!demo || adminToken !== undefined || !isLoopback(host)) return { ...options, demo }
  // As long as one that `openssl rand -hex 16` makes.
  const token = randomBytes(16).toString('hex')
  return { ...options, demo, adminToken: token, demoToken: token }
}

/** Can only programs on this machine reach an address? */
export function isLoopback(host: string): boolean {
  return /^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/i.test(host.replace(/^\[|\]$/g, ''))
}
