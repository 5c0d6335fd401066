// Runs before `npm pack` and `npm publish` of each package: installs and builds what a fresh clone lacks, and writes the
// documentation into the package. Without it, a fresh clone would pack only package.json. Its output goes to stderr, because
// `npm pack --json` is read by programs.
import { writeDocuments } from './package-documents.mjs'
import { setUp } from './set-up.mjs'

console.log = console.error
setUp({ build: 'if changed' })
writeDocuments()
