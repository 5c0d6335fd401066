// Finds relative links in Markdown that lead nowhere: to a file that does not exist, or to a heading that a document does
// not have. It works on text; check-docs.mjs reads the files.
import { posix } from 'node:path'

/**
 * The broken links of one document, each with its line, from 1.
 * @param {string} file its path from the root, with slashes
 * @param {(path: string) => string | undefined} read the text of a file, '' for a folder, `undefined` if there is none
 */
export function brokenLinks(file, markdown, read) {
  const broken = []
  for (const [index, line] of withoutFences(markdown).entries()) {
    for (const [, inline, defined] of line
      .replace(/`[^`]*`/g, '')
      .matchAll(/\]\(<?([^)>\s]+)|^ *\[[^\]]+\]: *(\S+)/g)) {
      const link = inline ?? defined
      if (/^([a-z][a-z\d+.-]*:|\/)/i.test(link)) continue
      const [path, heading] = link.split('#')
      const text = path === '' ? markdown : read(posix.join(posix.dirname(file), decodeURI(path)))
      if (text === undefined || (heading && !slugs(text).has(heading))) broken.push({ line: index + 1, link })
    }
  }
  return broken
}

/**
 * Rewrites the relative links of a document. `rewrite` returns the new link, or `undefined` to leave only the text of the link.
 * @param {(link: string) => string | undefined} rewrite
 */
export function rewriteLinks(markdown, rewrite) {
  const readable = withoutFences(markdown)
  const lines = markdown.split('\n').map((line, index) => {
    if (readable[index] === '') return line
    return line.replace(/\[([^\][]*)\]\(([^)\s]+)\)/g, (whole, text, link) => {
      if (/^([a-z][a-z\d+.-]*:|\/)/i.test(link)) return whole
      const rewritten = rewrite(link)
      return rewritten === undefined ? text : `[${text}](${rewritten})`
    })
  })
  return lines.join('\n')
}

/** The fragments of all headings, as GitHub makes them: `## Run, wrap, wait` is `run-wrap-wait`, and the second one `…-1`. */
function slugs(markdown) {
  const seen = new Map()
  const headings = withoutFences(markdown).flatMap((line) => /^#{1,6} +(.*?)[ #]*$/.exec(line)?.[1] ?? [])
  return new Set(
    headings.map((heading) => {
      const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
      const slug = text.replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '').replaceAll(' ', '-')
      const times = seen.get(slug) ?? 0
      seen.set(slug, times + 1)
      return times === 0 ? slug : `${slug}-${times}`
    }),
  )
}

/** The lines of a text. Those in fenced blocks are empty. */
function withoutFences(markdown) {
  let marks
  return markdown.split('\n').map((line) => {
    const found = /^\s*(`{3,}|~{3,})/.exec(line)?.[1]
    const isFence = found !== undefined && (marks === undefined || found.startsWith(marks))
    if (isFence) marks = marks === undefined ? found : undefined
    return isFence || marks !== undefined ? '' : line
  })
}
