// Builds every package with tsc, the library first. Each dist is removed first, so that no file of a deleted module is
// tested or published. The root's README and LICENSE are copied into the library's folder, because npm packs only files
// of that folder.
import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isMain } from './is-main.mjs'
import { fail, runTool } from './run-command.mjs'
import { packageFolders, root } from './workspaces.mjs'

export function build() {
  for (const folder of packageFolders()) {
    if (existsSync(join(root, folder, 'tsconfig.json'))) compile(folder)
  }
  for (const file of ['README.md', 'LICENSE']) {
    if (existsSync(join(root, file))) copyFileSync(join(root, file), join(root, 'packages/sluice', file))
  }
}

function compile(folder) {
  rmSync(join(root, folder, 'dist'), { recursive: true, force: true })
  const { ok, output } = runTool('typescript', ['-p', folder])
  if (!ok) fail(`${output}\nThe build of ${folder} failed.`)
}

if (isMain(import.meta.url)) build()
