import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { transform } from 'esbuild'
import { examplesInMarkdown } from '../../../../scripts/doc-examples.mjs'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const cache = `${root}node_modules/.cache/sluice-pages`

/**
 * Runs the examples of a section of a documentation page, in their order, and returns what they export. So a test drives
 * the code that readers copy. A later call runs them again, from the start.
 *
 * @example
 * ```ts no-check
 * const [before, after] = await runExamples<{ app: Express }>('moving/express-rate-limit.md', 'One limit for every client')
 * ```
 */
export async function runExamples<Exports>(page: string, section: string): Promise<Exports[]> {
  const examples = examplesInMarkdown(sectionOf(await readFile(`${root}docs/${page}`, 'utf8'), section))
  if (examples.length === 0) throw new Error(`docs/${page} has no example under '${section}'`)
  await mkdir(cache, { recursive: true })
  const loaded: Exports[] = []
  for (const { code } of examples) loaded.push(await load<Exports>(page, code))
  return loaded
}

let loads = 0

async function load<Exports>(page: string, code: string): Promise<Exports> {
  const file = `${cache}/${page.replaceAll(/\W/g, '-')}-${process.pid}-${loads++}.mjs`
  await writeFile(file, (await transform(code, { loader: 'ts', target: 'node20' })).code)
  try {
    return (await import(/* @vite-ignore */ pathToFileURL(file).href)) as Exports
  } finally {
    await rm(file)
  }
}

/** The text below a heading, up to the next heading. A line that starts with one `#` may be a comment of a shell or of YAML. */
function sectionOf(markdown: string, heading: string): string {
  const lines = markdown.split('\n')
  const start = lines.findIndex((line) => line.replace(/^##+ /, '') === heading && line !== heading)
  if (start < 0) throw new Error(`no heading '${heading}'`)
  const length = lines.slice(start + 1).findIndex((line) => /^##+ /.test(line))
  return lines.slice(start, length < 0 ? undefined : start + 1 + length).join('\n')
}

/** What a client sees of a response. */
export interface Seen {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** Serves with a listener on a free port of the loopback while `use` runs. */
export async function serving<T>(listener: RequestListener, use: (origin: string) => Promise<T>): Promise<T> {
  const server: Server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

/** Sends requests, each after the answer to the one before. */
export async function sendAll(url: string, inits: readonly RequestInit[]): Promise<Seen[]> {
  const seen: Seen[] = []
  for (const init of inits) {
    const response = await fetch(url, init)
    seen.push({ status: response.status, headers: response.headers, body: await response.text() })
  }
  return seen
}

/** The same request, so many times. */
export const times = (count: number, init: RequestInit = {}): RequestInit[] => Array.from({ length: count }, () => init)

export const statuses = (seen: readonly Seen[]): number[] => seen.map(({ status }) => status)
