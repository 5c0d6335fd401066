import type { ScriptRunner } from './clients/runner.js'

const warned = new WeakMap<object, Set<string>>()

/** Says something once about a client or store: a process warning with a code. */
function warnOnce(about: object, code: string, message: string): void {
  const codes = warned.get(about) ?? new Set()
  warned.set(about, codes)
  if (codes.has(code)) return
  codes.add(code)
  process.emitWarning(message, { type: 'SluiceWarning', code })
}

export function warnOfOptions(client: object, { unsafeOptions, safeOptions }: ScriptRunner): void {
  if (unsafeOptions.length === 0) return
  warnOnce(
    client,
    'SLUICE_REDIS_CLIENT_OPTIONS',
    'In an outage this Redis client may keep decisions waiting or send them twice. ' +
      `Give it ${safeOptions} of sluice/redis: ${unsafeOptions.join(', ')}.`,
  )
}

export function warnOfCluster(store: object): void {
  warnOnce(
    store,
    'SLUICE_REDIS_NOT_A_CLUSTER_CLIENT',
    'This Redis server is part of a cluster, and redirects. Pass a cluster client, or limits of other servers are lost.',
  )
}

export function warnOfSilence(store: object, onFailure: string): void {
  warnOnce(
    store,
    'SLUICE_REDIS_UNAVAILABLE',
    `Redis has not answered for a while. Until it does, limits answer '${onFailure}' where nothing else was said. ` +
      'Is the client connected?',
  )
}

/** Somebody has set an override that cannot be read here. It is left out. */
export function warnOfOverride(name: string, error: unknown): void {
  process.emitWarning(`the override of ${name} cannot be read and is left out: ${error}`, {
    type: 'SluiceWarning',
    code: 'SLUICE_OVERRIDE',
  })
}
