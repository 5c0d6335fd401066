import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The library as another build exports it: `sluice` and `sluice/redis` in one object. */
export async function loadBuild(folder) {
  const load = (file) => import(pathToFileURL(join(folder, 'dist', file)))
  return { ...(await load('index.js')), ...(await load('stores/redis/index.js')) }
}
