import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { examplesInMarkdown } from '../doc-examples.mjs'

const root = new URL('../../', import.meta.url)
const read = (path) => readFileSync(new URL(path, root), 'utf8')
const filesIn = (folder, end) =>
  readdirSync(new URL(folder, root), { recursive: true })
    .filter((name) => name.endsWith(end))
    .map((name) => `${folder}${name}`)

/** Pages whose every example is run, because they say so. */
const pages = [...filesIn('docs/moving/', '.md'), 'docs/recipes.md']
const tests = filesIn('packages/sluice/test/docs/', '.test.ts').map(read).join('\n')

/** The headings of a page that have examples under them. */
function headingsWithExamples(markdown) {
  const sections = markdown.split(/^##+ /m).slice(1)
  return sections.filter((section) => examplesInMarkdown(section).length > 0).map((section) => section.split('\n')[0])
}

/** Whether a test names a section. Sections of several frameworks are named as in `prom-client in ${framework}`. */
function isNamed(heading) {
  const [what, framework] = heading.split(' in ')
  return tests.includes(`'${heading}'`) || (tests.includes(`${what} in \${`) && tests.includes(`'${framework}'`))
}

test.each(pages)('every example of %s is run by a test', (page) => {
  const headings = headingsWithExamples(read(page))
  expect(headings.length).toBeGreaterThan(2)
  expect(headings.filter((heading) => !isNamed(heading))).toEqual([])
})
