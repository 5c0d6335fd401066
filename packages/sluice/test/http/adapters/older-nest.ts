import { register } from 'node:module'

/**
 * Loads an older version of Nest in place of the newest, in this process, for imports from now on. Two versions
 * cannot be installed beside each other under one name, so `versions/` has the older ones.
 */
export function useOlderNest(version: 10 | 11): void {
  const manifest = new URL(`../../../../../versions/nest-${version}/package.json`, import.meta.url)
  register('./older-nest-hooks.mjs', { parentURL: import.meta.url, data: manifest.href })
}
