import type { ScriptRunner } from './runner.js'

/** What is used of a valkey-glide client or cluster client. */
export interface GlideClient {
  customCommand(args: string[]): Promise<unknown>
}

export function isGlide(client: object): client is GlideClient {
  return typeof (client as GlideClient).customCommand === 'function'
}

export function glideRunner(client: GlideClient): ScriptRunner {
  return {
    cluster: typeof (client as { invokeScriptWithRoute?: unknown }).invokeScriptWithRoute === 'function',
    evalSha: (sha, keys, args) => client.customCommand(['EVALSHA', sha, String(keys.length), ...keys, ...args]),
    eval: (script, keys, args) => client.customCommand(['EVAL', script, String(keys.length), ...keys, ...args]),
    unsafeOptions: [],
  }
}
