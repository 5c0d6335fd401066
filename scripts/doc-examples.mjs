// Finds the TypeScript examples of documentation: fenced `ts` blocks in Markdown and in the doc comments of source files.
// It works on text; check-docs.mjs reads the files.

const fence = /^(?<indent>\s*)(?<marks>`{3,}|~{3,})\s*(?<language>[\w-]*)\s*(?<flags>.*?)\s*$/
const knownFlags = ['alone', 'no-check', 'run']

/**
 * The `ts` blocks of a Markdown text.
 * @returns {{ line: number, flags: string[], code: string }[]} `line` is the line where the code begins, from 1
 */
export function examplesInMarkdown(markdown) {
  const examples = []
  let open
  for (const [index, text] of markdown.split('\n').entries()) {
    const { indent, marks, language, flags } = fence.exec(text)?.groups ?? {}
    if (open && marks?.startsWith(open.marks) && !language && !flags) {
      if (open.isTs) examples.push(finish(open))
      open = undefined
    } else if (open) open.lines.push(text.startsWith(open.indent) ? text.slice(open.indent.length) : text.trimStart())
    else if (marks)
      open = { marks, indent, isTs: /^(ts|typescript)$/.test(language), flags, line: index + 2, lines: [] }
  }
  if (open?.isTs) throw new Error(`line ${open.line - 1}: this block has no end`)
  return examples
}

/** The `ts` blocks in the doc comments of a source text. Line numbers are those of the source. */
export function examplesInSource(source) {
  const markdown = source.split('\n').map(() => '')
  for (const { 0: comment, index } of source.matchAll(/\/\*\*.*?\*\//gs)) {
    const first = source.slice(0, index).split('\n').length - 1
    const lines = comment.slice(3, -2).split('\n')
    for (const [offset, line] of lines.entries()) markdown[first + offset] = line.replace(/^\s*\* ?/, '')
  }
  return examplesInMarkdown(markdown.join('\n'))
}

function finish({ line, flags, lines }) {
  const words = flags.split(/\s+/).filter(Boolean)
  const unknown = words.find((word) => !knownFlags.includes(word))
  if (unknown) throw new Error(`line ${line - 1}: '${unknown}' is not one of ${knownFlags.join(', ')}`)
  return { line, flags: words, code: lines.join('\n') }
}
