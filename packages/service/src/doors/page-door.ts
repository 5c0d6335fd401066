import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Door, Handler } from '../server/door.js'
import { Problem } from '../server/problem.js'
import { StaticFile } from '../server/static-file.js'

/** Where `npm run build` puts the page. It is part of the package. */
const FOLDER = fileURLToPath(new URL('../../dist/page/', import.meta.url))
const INDEX = 'index.html'

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

/** The page runs the service's own script and nothing else, talks to the service only, and is shown in no frame. */
const SAFETY = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    // No text becomes HTML or a program by mistake.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

/**
 * `GET /`: the page of the service, for people. Its script and its style sheet are named by their contents, so a browser keeps
 * them for ever and asks only for the page itself again. All files are read once: a path of a request names no file.
 */
export function pageDoor(folder = FOLDER): Door {
  if (!existsSync(`${folder}${INDEX}`)) return { name: 'page', routes: { 'GET /': refuse } }
  const files = readdirSync(folder).flatMap((name): (readonly [string, Handler])[] => {
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)]
    if (type === undefined) return []
    const file = new StaticFile(readFileSync(`${folder}${name}`), {
      type,
      cacheControl: 'public, max-age=31536000, immutable',
      fields: { 'Cross-Origin-Resource-Policy': 'same-origin' },
    })
    return [[`GET /page/${name}`, (exchange) => file.answer(exchange)]]
  })
  const index = new StaticFile(readFileSync(`${folder}${INDEX}`), {
    type: 'text/html; charset=utf-8',
    cacheControl: 'no-cache',
    fields: SAFETY,
  })
  return {
    name: 'page',
    routes: { 'GET /': (exchange) => index.answer(exchange) },
    files: Object.fromEntries(files),
  }
}

function refuse(): void {
  throw new Problem(
    404,
    'There is no page',
    'the files of the page are missing from this installation; npm run build makes them in a clone. /docs lists all resources',
  )
}
