// Whether a module was started by `node path/to/it` rather than imported. A check can then be a command and also export
// a function that tests call.
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export function isMain(moduleUrl) {
  return Boolean(process.argv[1]) && realpathSync(process.argv[1]) === realpathSync(fileURLToPath(moduleUrl))
}
