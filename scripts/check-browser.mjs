// Proves that `sluice/limits` runs in a browser unchanged: bundles it without leaving out or replacing any module, then
// decides with it in a context that has the globals of the language and none of Node's.
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { fail } from './run-command.mjs'
import { root } from './workspaces.mjs'

const burstOfThree = `{
  const limit = sluice.tokenBucket({ capacity: 2, refill: '6/s' })
  let state
  const allowed = [1, 2, 3].map(() => {
    const answer = sluice.evaluate(limit, state, 1_700_000_000_000, 1)
    state = answer.state
    return answer.decision.allowed
  })
  allowed.join()
}`

try {
  const code = await bundle()
  const context = createContext({})
  runInContext(code, context)
  const allowed = runInContext(burstOfThree, context)
  if (allowed !== 'true,true,false') fail(`a bucket of 2 answered three requests with ${allowed}`)
  console.log(`${Buffer.byteLength(code)} bytes minified, ${gzipSync(code).length} gzipped`)
} catch (error) {
  fail(`${error.name}: ${error.message}`)
}

/** A script that puts the module into the global `sluice`. Throws if an import cannot be bundled. */
async function bundle() {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(root, 'packages/sluice/dist/limits/index.js')],
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'sluice',
    write: false,
    metafile: true,
    logLevel: 'silent',
  })
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports)
  const left = imports.filter(({ external }) => external).map(({ path }) => path)
  if (left.length) throw new Error(`not bundled: ${left.join(', ')}`)
  return outputFiles[0].text
}
