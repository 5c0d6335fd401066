// A fresh clone, in which nothing is installed or built: `npm pack` has to pack the same files as here.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fail, run, runNpm } from '../run-command.mjs'
import { root } from '../workspaces.mjs'

const PACKAGES = ['packages/sluice', 'packages/service']

/** Clones the last commit into `folder` and packs both packages there. Returns how many files they have. */
export function checkClone(folder) {
  const clone = join(folder, 'clone')
  const cloned = run('git', ['clone', '--quiet', root, clone])
  if (!cloned.ok) fail(cloned.output)
  return PACKAGES.reduce((count, each) => {
    const files = packedFiles(each, clone)
    const missing = packedFiles(each, root).filter((file) => !files.includes(file))
    if (missing.length > 0) fail(`a fresh clone packs ${each} without ${missing.slice(0, 20).join(', ')}`)
    const { exports } = JSON.parse(readFileSync(join(clone, each, 'package.json'), 'utf8'))
    const entries = Object.values(exports).flatMap((entry) =>
      typeof entry === 'string' ? [entry] : Object.values(entry),
    )
    const unpacked = entries.filter((entry) => !files.includes(entry.slice(2)))
    if (unpacked.length > 0) fail(`a fresh clone packs ${each} without ${unpacked.join(', ')}`)
    return count + files.length
  }, 0)
}

function packedFiles(each, cwd) {
  const { ok, output } = runNpm(['pack', `./${each}`, '--dry-run', '--json', '--loglevel=error'], { cwd })
  const start = output.search(/^\[$/m)
  if (!ok || start < 0) fail(`npm pack of ${each} failed\n${output}`)
  return JSON.parse(output.slice(start, output.search(/^\]$/m) + 1))[0].files.map(({ path }) => path)
}
