// Tells whether a module was started by `node path/to/it` rather than imported, so that a check can be
// both a command and a function with tests.
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export function isMain(moduleUrl) {
  return Boolean(process.argv[1]) && realpathSync(process.argv[1]) === realpathSync(fileURLToPath(moduleUrl))
}
