import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { examplesInMarkdown } from '../doc-examples.mjs'

const root = new URL('../../', import.meta.url)
const read = (path) => readFileSync(new URL(path, root), 'utf8')
const filesIn = (folder, end) =>
  readdirSync(new URL(folder, root), { recursive: true })
    .filter((name) => name.endsWith(end))
    .map((name) => `${folder}${name}`)

/** Sections whose examples are only compiled: this one needs a fleet. */
const ONLY_COMPILED = ['For a fleet']
/** Pages whose every other example is run. */
const pages = [...filesIn('docs/moving/', '.md'), 'docs/recipes.md', 'docs/logins.md']
const tests = filesIn('packages/sluice/test/docs/', '.test.ts').map(read)

/**
 * What the tests say about a page. Most begin with `const PAGE = 'recipes.md'`, which holds up to the next PAGE of the file; a file
 * without PAGE is about every page that it names.
 */
function testsOf(page) {
  const name = `'${page.replace('docs/', '')}'`
  const parts = tests.flatMap((text) => {
    const [before, ...ofPages] = text.split('PAGE = ')
    return ofPages.length > 0
      ? ofPages.filter((part) => part.startsWith(name))
      : [before].filter((all) => all.includes(name))
  })
  return parts.join('\n')
}

/** The headings of a page that have examples under them. Those marked `ts run` are run by check-docs.mjs. */
function headingsWithExamples(markdown) {
  const sections = markdown.split(/^##+ /m).slice(1)
  return sections
    .filter((section) => examplesInMarkdown(section).some(({ flags }) => !flags.includes('run')))
    .map((section) => section.split('\n')[0])
}

/** Whether a test names a section. Sections of several frameworks are named as in `prom-client in ${framework}`. */
function isNamed(heading, text) {
  const [what, framework] = heading.split(' in ')
  return text.includes(`'${heading}'`) || (text.includes(`${what} in \${`) && text.includes(`'${framework}'`))
}

test.each(pages)('every example of %s is run by a test of this page', (page) => {
  const headings = headingsWithExamples(read(page))
  const text = testsOf(page)
  expect(headings.length).toBeGreaterThan(1)
  expect(headings.filter((heading) => !ONLY_COMPILED.includes(heading) && !isNamed(heading, text))).toEqual([])
})
