/** Makes Node.js load Nest from one of `versions/`: from there on, for the tests and for Sluice alike. */
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const OF_NEST = /(?:^|\/node_modules\/)(@nestjs\/[a-z-]+)(?:\/index\.js)?$/
let require

export function initialize(manifest) {
  require = createRequire(manifest)
}

export function resolve(specifier, context, nextResolve) {
  const [, name] = OF_NEST.exec(specifier) ?? []
  if (name === undefined || context.parentURL?.includes('/versions/')) return nextResolve(specifier, context)
  return { url: pathToFileURL(require.resolve(name)).href, shortCircuit: true }
}
