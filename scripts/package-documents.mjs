// Writes the documentation into the folders of the packages, because npm packs only files of a package's own folder: the
// README, docs and, for the library, the examples and the pages that the README links to. Links are rewritten, so that each
// one works inside the package: a link to a file of another package leads to that package's page at npm, and a link to a file
// that no package has becomes text. Files that are as they should be are not written again, so that two processes can pack
// at the same time.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, sep } from 'node:path'
import { rewriteLinks } from './doc-links.mjs'
import { isMain } from './is-main.mjs'
import { publishedFolders, readManifest, root } from './workspaces.mjs'

/** The documents of each package by their place in it, without those in folders. */
const PAGES = {
  'packages/sluice': {
    'README.md': 'README.md',
    LICENSE: 'LICENSE',
    'CHANGELOG.md': 'CHANGELOG.md',
    'ARCHITECTURE.md': 'ARCHITECTURE.md',
    'CONTRIBUTING.md': 'CONTRIBUTING.md',
    'bench/RESULTS.md': 'bench/RESULTS.md',
  },
  'packages/service': { 'README.md': 'docs/sluice-service.md', 'CHANGELOG.md': 'CHANGELOG.md' },
}
/** Folders that are copied whole. */
const FOLDERS = { 'packages/sluice': ['docs', 'examples'], 'packages/service': ['docs'] }

/** Writes the documents of all packages, and removes those that are no longer there. */
export function writeDocuments() {
  for (const folder of publishedFolders()) {
    const places = placesOf(folder)
    for (const [place, source] of places) {
      const content = source.endsWith('.md') ? documentFor(folder, place, source) : readFileSync(join(root, source))
      writeIfChanged(join(root, folder, place), Buffer.from(content))
    }
    for (const copied of FOLDERS[folder] ?? [])
      for (const place of filesUnder(`${folder}/${copied}`))
        if (!places.has(posix.relative(folder, place))) rmSync(join(root, place))
  }
}

/** Where a package keeps its copies, and of what. A clone without documents, as in a container, has none. */
function placesOf(folder) {
  const pages = Object.entries(PAGES[folder] ?? {}).filter(([, source]) => existsSync(join(root, source)))
  return new Map([...pages, ...(FOLDERS[folder] ?? []).flatMap(filesUnder).map((file) => [file, file])])
}

function documentFor(folder, place, source) {
  return rewriteLinks(readFileSync(join(root, source), 'utf8'), (link) => {
    const [path, heading] = link.split('#')
    if (path === '') return link
    const target = posix.join(posix.dirname(source), decodeURI(path))
    const here = placeIn(folder, target)
    const fragment = heading === undefined ? '' : `#${heading}`
    if (here !== undefined) return posix.relative(posix.dirname(place), here) + fragment
    const owner = publishedFolders().find((each) => placeIn(each, target) !== undefined)
    return owner && `https://www.npmjs.com/package/${readManifest(owner).name}`
  })
}

/** The place of a file of the repository, or of a folder, in a package. */
function placeIn(folder, target) {
  const places = placesOf(folder)
  for (const [place, source] of places) if (source === target) return place
  const copied = posix.normalize(target).replace(/\/$/, '')
  if ([...places.keys()].some((place) => place.startsWith(`${copied}/`))) return copied
  const own = posix.relative(folder, target)
  const isPacked = readManifest(folder).files.some((entry) => own === entry || own.startsWith(`${entry}/`))
  return isPacked && target.startsWith(`${folder}/`) && existsSync(join(root, target)) ? own : undefined
}

function filesUnder(folder) {
  if (!existsSync(join(root, folder))) return []
  const names = readdirSync(join(root, folder), { recursive: true }).map(
    (name) => `${folder}/${name.split(sep).join('/')}`,
  )
  return names.filter((name) => statSync(join(root, name)).isFile()).sort()
}

function writeIfChanged(file, content) {
  if (existsSync(file) && readFileSync(file).equals(content)) return
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}

if (isMain(import.meta.url)) writeDocuments()
