// Runs before `npm pack` and `npm publish` of each package: installs and builds what a fresh clone lacks, and writes the
// documentation into the package. Without it, a fresh clone would pack only package.json. Its output goes to stderr, because
// `npm pack --json` is read by programs.
import { writeDocuments } from './package-documents.mjs'
import { setUp } from './set-up.mjs'

// npm passes the options of its command line on to the npm that installs: `npm publish --dry-run` would install nothing.
for (const name of ['dry_run', 'json', 'workspace', 'workspaces', 'ignore_scripts', 'pack_destination'])
  delete process.env[`npm_config_${name}`]

console.log = console.error
setUp({ build: 'if changed' })
writeDocuments()
