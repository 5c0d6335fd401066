// Builds every package with tsc, the library first. Each dist is removed first, so that no file of a deleted module is
// tested or published. The page is bundled into the service, and the documentation is copied into the packages. A stamp in
// node_modules holds a hash of the sources: `npm start` builds only if they have changed.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMain } from './is-main.mjs'
import { writeDocuments } from './package-documents.mjs'
import { fail, runNode, runTool } from './run-command.mjs'
import { packageFolders, root } from './workspaces.mjs'

const stamp = join(root, 'node_modules', '.sluice-built')

/** Files that are there after a build. */
const RESULTS = ['sluice/dist/index.js', 'service/dist/index.js', 'service/dist/page/index.html'].map((file) =>
  join('packages', file),
)

export function buildIfChanged() {
  const isBuilt = RESULTS.every((file) => existsSync(join(root, file)))
  if (isBuilt && existsSync(stamp) && readFileSync(stamp, 'utf8') === hashOfSources()) return
  build()
}

export function build() {
  rmSync(stamp, { force: true })
  for (const folder of packageFolders()) {
    if (existsSync(join(root, folder, 'tsconfig.json'))) compile(folder)
  }
  bundlePage()
  writeDocuments()
  if (existsSync(join(root, 'node_modules'))) writeFileSync(stamp, hashOfSources())
}

function hashOfSources() {
  const hash = createHash('sha256').update(process.version)
  const add = (file) => hash.update(file).update(readFileSync(join(root, file)))
  for (const file of ['tsconfig.base.json', 'scripts/build-page.mjs']) add(file)
  for (const folder of packageFolders()) {
    const sources = readdirSync(join(root, folder, 'src'), { recursive: true }).filter((name) =>
      /\.(?:tsx?|css|html)$/.test(name),
    )
    for (const name of [...sources.sort().map((each) => join('src', each)), 'package.json', 'tsconfig.json'])
      add(join(folder, name))
  }
  return hash.digest('hex')
}

function compile(folder) {
  rmSync(join(root, folder, 'dist'), { recursive: true, force: true })
  const { ok, output } = runTool('typescript', ['-p', folder])
  if (!ok) fail(`${output}\nThe build of ${folder} failed.`)
}

/** In a process of its own, because its bundler is not installed yet when the scripts of a fresh clone are loaded. */
function bundlePage() {
  const { ok, output } = runNode(['scripts/build-page.mjs'])
  if (!ok) fail(`${output}\nThe page could not be bundled.`)
}

if (isMain(import.meta.url)) build()
