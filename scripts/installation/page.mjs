// The page of the service in an installation: index.html, and every file that it names.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fail } from '../run-command.mjs'

const INDEX = 'index.html'

/** Fails if the package lacks a file of the page. Returns how many files there are. */
export function checkPage(user) {
  const folder = join(user, 'node_modules/sluice-service/dist/page')
  if (!existsSync(join(folder, INDEX))) fail(`the package has no page: ${folder} lacks ${INDEX}`)
  const html = readFileSync(join(folder, INDEX), 'utf8')
  // `/page/page-60b537223197.js` is the file `page-60b537223197.js`.
  const named = [...html.matchAll(/(?:href|src)="\/page\/([^"]+)"/g)].map(([, name]) => name)
  if (named.length < 2) fail(`the page names no script or no style sheet:\n${html}`)
  for (const name of named) {
    if (!existsSync(join(folder, name))) fail(`the page names ${name}, which the package lacks`)
  }
  return named.length + 1
}
