// The documentation of an installed package: it is there, and its links lead to files and headings of the package.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { brokenLinks } from '../doc-links.mjs'
import { fail } from '../run-command.mjs'

const WANTED = {
  sluice: ['README.md', 'CHANGELOG.md', 'docs/http.md', 'docs/modules.md', 'examples/express.mjs'],
  'sluice-service': ['README.md', 'CHANGELOG.md', 'docs/service.md', 'deploy/Dockerfile', 'schema/policy.schema.json'],
}

/** Checks the documentation of both packages in a project, and returns how many pages they have. */
export function checkDocuments(project) {
  return Object.entries(WANTED).reduce((pages, [name, wanted]) => {
    const folder = join(project, 'node_modules', name)
    const missing = wanted.filter((file) => !existsSync(join(folder, file)))
    if (missing.length > 0) fail(`${name} was packed without ${missing.join(', ')}`)
    return pages + checkPages(name, folder)
  }, 0)
}

function checkPages(name, folder) {
  const names = readdirSync(folder, { recursive: true }).map((each) => each.split(sep).join('/'))
  const pages = names.filter((each) => each.endsWith('.md'))
  const read = (path) => {
    const target = join(folder, path)
    if (path.startsWith('..') || !existsSync(target)) return undefined
    return statSync(target).isFile() ? readFileSync(target, 'utf8') : ''
  }
  const broken = pages.flatMap((page) =>
    brokenLinks(page, read(page), read).map(({ line, link }) => `${name}/${page}:${line} links to ${link}`),
  )
  if (broken.length > 0) fail(`links that lead nowhere in an installation:\n${broken.join('\n')}`)
  return pages.length
}
