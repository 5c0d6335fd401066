import { createRequire, register } from 'node:module'
import { expect, it } from 'vitest'

/**
 * Loads an older version of Nest in place of the newest, in this process, for imports from now on. Two versions
 * cannot be installed beside each other under one name, so `versions/` has the older ones.
 */
export function useOlderNest(version: 10 | 11): void {
  const manifest = manifestOf(version)
  register('./older-nest-hooks.mjs', { parentURL: import.meta.url, data: manifest.href })
}

/** Tests that the older version is what the tests and Sluice have loaded: a class of a CommonJS module is there once. */
export function itIsOlderNest(version: 10 | 11): void {
  it(`is Nest ${version}, for the tests and for Sluice`, async () => {
    const require = createRequire(manifestOf(version))
    expect(require('@nestjs/core/package.json').version).toMatch(new RegExp(`^${version}\\.`))
    const [{ NestFactory }, { RateLimitException }] = [await import('@nestjs/core'), await import('sluice/nest')]
    expect(NestFactory).toBe(require('@nestjs/core').NestFactory)
    expect(Object.getPrototypeOf(RateLimitException)).toBe(require('@nestjs/common').HttpException)
  })
}

function manifestOf(version: 10 | 11): URL {
  return new URL(`../../../../../versions/nest-${version}/package.json`, import.meta.url)
}
