import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** What a build exports under the given names of its package.json, such as `./redis`, in one object. */
export async function loadBuild(folder, names = ['.', './redis']) {
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const modules = names.map((name) => import(pathToFileURL(join(folder, exports[name].default))))
  return Object.assign({}, ...(await Promise.all(modules)))
}
