import { createHash } from 'node:crypto'
import type { Algorithm } from '../../limits/index.js'
import { ALGORITHM_ORDER } from './script.js'

/** Names and keys of more UTF-16 units than this are kept by their hash. */
const LONGEST_KEPT = 128

const LETTERS: { readonly [A in Algorithm]: string } = {
  'token-bucket': 't',
  'leaky-bucket': 'l',
  'fixed-window': 'f',
  'sliding-window': 's',
  'sliding-log': 'g',
  concurrency: 'c',
}

/**
 * Where a state lives in Redis: `sluice:t:{user:42}search` is the token bucket of the key `user:42` under the name
 * `search`. What stands in the braces is the hash tag, so that all of a key's limits share a slot of a cluster.
 *
 * No two states share a Redis key: braces and percent signs in a name or key are escaped as in an address, and the hash
 * that stands for a long one begins with a percent sign that no escape begins with.
 */
export class KeyLayout {
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  of(algorithm: Algorithm, name: string, tag: string): string {
    return `${this.#prefix}${LETTERS[algorithm]}:{${tag}}${escaped(name)}`
  }

  /** The Redis keys of every algorithm's state under a name and key, in the order that the script wants. */
  ofAll(name: string, tag: string): readonly string[] {
    return ALGORITHM_ORDER.map((algorithm) => this.of(algorithm, name, tag))
  }

  /** The Redis keys of a policy's overrides, in the order that the script wants. */
  ofOverrides(policy: string): readonly string[] {
    const values = `${this.#prefix}o:{${escaped(policy)}}`
    return [values, `${values}versions`, `${values}ends`]
  }

  /** What stands between the braces for a key. */
  tagOf(key: string): string {
    return escaped(key)
  }
}

function escaped(raw: string): string {
  // What becomes the same bytes must be the same text here.
  const text = raw.toWellFormed()
  if (text.length > LONGEST_KEPT) return `%#${createHash('sha256').update(text).digest('base64url')}`
  return /[%{}]/.test(text) ? text.replace(/[%{}]/g, encodeURIComponent) : text
}
