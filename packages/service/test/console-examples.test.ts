import { execFile, spawnSync } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { SERVE_OPTIONS } from '../dist/serve/serve-options.js'
import { main } from './cli/run-cli.js'
import { ServeProcess } from './serve/serve-process.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const README = 'docs/sluice-service.md'
const ADDRESS = '127.0.0.1:8080'
const TOKEN = 'a token of many characters'

interface Example {
  readonly command: string
  readonly output: string
}

/** The commands of the blocks that are marked `console run`, each with the output that the document shows. */
function examplesOf(markdown: string): readonly Example[] {
  const blocks = [...markdown.matchAll(/^```console run\n(.*?)^```$/gms)].map(([, block]) => block)
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((text) => {
        const end = text.indexOf('\n')
        return { command: text.slice(0, end), output: text.slice(end + 1).trimEnd() }
      }),
  )
}

/** The file `policy.yaml` of a document. */
function policyOf(markdown: string): string | undefined {
  return /^```yaml\n(# policy\.yaml\n.*?)^```$/ms.exec(markdown)?.[1]
}

/** Runs a line as a reader would type it. */
function run(command: string, cwd: string, env: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve) => {
    execFile('bash', ['-c', command], { cwd, env: { ...process.env, ...env } }, (_, stdout, stderr) =>
      resolve(`${stdout}${stderr}`.trimEnd()),
    )
  })
}

/** `…` in a document stands for any text. */
function patternOf(output: string): RegExp {
  const parts = output.split('…').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return new RegExp(`^${parts.join('[^]*?')}$`)
}

const hasCurl = spawnSync('curl', ['--version']).status === 0

test
  .skipIf(!hasCurl)
  .each([README, 'docs/service.md', 'docs/service-page.md', 'docs/policy-files.md', 'docs/service-envoy.md'])(
  'the commands of %s print what it shows',
  async (file) => {
    const markdown = await readFile(join(root, file), 'utf8')
    const folder = await mkdtemp(join(tmpdir(), 'sluice-docs-'))
    try {
      await writeFile(join(folder, 'policy.yaml'), policyOf(markdown) ?? '')
      await writeFile(join(folder, 'sluice'), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`)
      await chmod(join(folder, 'sluice'), 0o755)
      await using service = await ServeProcess.start(['--policy', join(folder, 'policy.yaml'), '--admin-token', TOKEN])
      const { host } = new URL(service.url)
      const env = {
        ...{ SLUICE_URL: service.url, TOKEN, NODE_OPTIONS: '', NO_COLOR: '1' },
        PATH: `${folder}${delimiter}${process.env.PATH}`,
      }
      const examples = examplesOf(markdown)
      expect(examples.length).toBeGreaterThan(0)
      for (const { command, output } of examples) {
        const printed = await run(command.replaceAll(ADDRESS, host), folder, env)
        expect(printed.replaceAll(host, ADDRESS), command).toMatch(patternOf(output))
      }
    } finally {
      await rm(folder, { recursive: true })
    }
  },
  60_000,
)

test('the README has every option of sluice serve', async () => {
  const markdown = await readFile(join(root, README), 'utf8')
  for (const [name, { value }] of Object.entries(SERVE_OPTIONS) as [string, { value?: string }][])
    expect(markdown).toContain(`| \`--${name}${value === undefined ? '' : ` ${value}`}\` `)
})
