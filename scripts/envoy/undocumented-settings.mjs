// The variables of envoyproxy/ratelimit that docs/envoyproxy-ratelimit.md does not name. Its program has them all: Go keeps
// the tags of its settings, `envconfig:"NAME"`.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../workspaces.mjs'

/** Settings of libraries. */
const OTHERS = /^(?:NAME|PATTERN|TAGS|GOSTATS_.*)$/

/** `program`: the file of the original. */
export function undocumentedSettings(program) {
  const tags = readFileSync(program, 'latin1').matchAll(/envconfig:"([A-Z][A-Z0-9_]+)"/g)
  const names = [...new Set([...tags].map(([, name]) => name))]
  if (names.length < 50) throw new Error(`${program} has ${names.length} settings only: are they called otherwise now?`)
  const page = readFileSync(join(root, 'docs/envoyproxy-ratelimit.md'), 'utf8')
  // `STATSD_…` stands for all that begin so, and `LIMIT_…_HEADER` for all between.
  const written = [...page.matchAll(/`([A-Z][A-Z0-9_]+(?:…[A-Z_]*)?)`/g)].map(([, text]) => text.split('…'))
  const isNamed = (name) =>
    written.some(([start, end]) => (end === undefined ? name === start : name.startsWith(start) && name.endsWith(end)))
  return names.filter((name) => !OTHERS.test(name) && !isNamed(name)).sort()
}
