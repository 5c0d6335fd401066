import { setTimeout as wait } from 'node:timers/promises'
import type { ScriptRunner } from './script-runner.js'

/** The part of a valkey-glide client or cluster client that the store uses. */
export interface GlideClient {
  customCommand(args: string[]): Promise<unknown>
}

export function isGlide(client: object): client is GlideClient {
  return typeof (client as GlideClient).customCommand === 'function'
}

export function glideRunner(client: GlideClient): ScriptRunner {
  return {
    cluster: typeof (client as { invokeScriptWithRoute?: unknown }).invokeScriptWithRoute === 'function',
    evalSha: (sha, keys, args) => run(client, ['EVALSHA', sha, String(keys.length), ...keys, ...args]),
    eval: (script, keys, args) => run(client, ['EVAL', script, String(keys.length), ...keys, ...args]),
    unsafeOptions: [],
    safeOptions: 'no options',
  }
}

const MOST_MOVES = 10
/** Meanwhile other calls let glide learn where the hash slot is. */
const MOVE_MS = 2

/** With several calls under way, glide rejects some with a redirection instead of following it. Then nothing has run. */
async function run(client: GlideClient, command: string[]): Promise<unknown> {
  for (let moves = 1; ; moves++) {
    try {
      return await client.customCommand(command)
    } catch (error) {
      if (moves === MOST_MOVES || !(error instanceof Error && /\bMoved: /i.test(error.message))) throw error
      await wait(MOVE_MS)
    }
  }
}
