// Bundles the page of the service into packages/service/dist/page: index.html, and a script and a style sheet that are named
// by their contents, so that browsers may keep them for ever.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { root } from './workspaces.mjs'

const source = join(root, 'packages/page/src')
const target = join(root, 'packages/service/dist/page')

const { outputFiles } = await build({
  entryPoints: [
    { in: join(source, 'main.tsx'), out: 'page' },
    { in: join(source, 'style/page.css'), out: 'page' },
  ],
  outdir: target,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  // Licences of what is bundled.
  legalComments: 'eof',
  logLevel: 'warning',
  write: false,
})
rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
let html = readFileSync(join(source, 'index.html'), 'utf8')
for (const { path, contents } of outputFiles) {
  const ending = path.slice(path.lastIndexOf('.'))
  const name = `page-${createHash('sha256').update(contents).digest('hex').slice(0, 12)}${ending}`
  writeFileSync(join(target, name), contents)
  html = html.replace(`page${ending}`, name)
}
writeFileSync(join(target, 'index.html'), html)
