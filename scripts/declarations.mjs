// Reads the declaration files that tsc writes: what a module exports, and the doc comment of a declaration. It works on text, and
// knows the forms that tsc writes, which are few.

export const DECLARATION = /^(?:export )?(?:declare )?(?:abstract )?(function|const|class|interface|type) ([\w$]+)/gm

/**
 * What a declaration file exports. `names` has its own declarations and those that it takes from other files; `all` has the files
 * from which it exports everything.
 * @returns {{ names: { exported: string, local: string, source?: string }[], all: string[] }}
 */
export function readExports(text) {
  const code = withoutComments(text)
  const all = [...code.matchAll(/^export \* from '([^']+)'/gm)].map(([, source]) => source)
  const names = [...code.matchAll(DECLARATION)]
    .filter(([line]) => line.startsWith('export '))
    .map(([, , name]) => ({ exported: name, local: name }))
  for (const [, list, source] of code.matchAll(/^export (?:type )?\{([^}]*)\}(?: from '([^']+)')?/gm)) {
    for (const item of list.split(',').map((each) => each.trim().replace(/^type /, ''))) {
      const [local, exported = local] = item.split(/ as /)
      if (local) names.push({ exported, local, source })
    }
  }
  return { names: [...new Map(names.map((each) => [each.exported, each])).values()], all }
}

/**
 * The kind of a declaration and the first sentence of its doc comment. Of overloads, the first one that has a comment counts.
 * @returns {{ kind: string, summary: string | undefined } | undefined} undefined if the file does not declare the name
 */
export function findDeclaration(text, name) {
  const found = [...text.matchAll(DECLARATION)].filter(([, , each]) => each === name)
  if (found.length === 0) return undefined
  const summaries = found.map(({ index }) => firstSentence(commentBefore(text.slice(0, index))))
  return { kind: found[0][1], summary: summaries.find((summary) => summary !== undefined) }
}

/** The first sentence of the comment at the top of a module, without its name: `\`sluice/redis\`: the same limits …`. */
export function moduleSummary(text) {
  const [, comment] = /^\/\*\*(.*?)\*\//s.exec(text) ?? []
  const [, sentence] = /^`sluice[\w/-]*`: (.*)/.exec(firstSentence(comment ?? '') ?? '') ?? []
  return sentence && sentence[0].toUpperCase() + sentence.slice(1)
}

function commentBefore(text) {
  if (!text.trimEnd().endsWith('*/')) return ''
  return text.slice(text.lastIndexOf('\n/**') + 1).replace(/^\/\*\*|\*\/\s*$/g, '')
}

/** The first sentence of a comment, on one line. */
export function firstSentence(comment) {
  const lines = comment.split('\n').map((line) => line.replace(/^\s*\* ?/, '').trim())
  const [paragraph] = lines
    .join('\n')
    .trim()
    .split(/\n\n|(?:^|\n)@/)
  const plain = paragraph.replaceAll('\n', ' ').replace(/\{@link ([^}]+)\}/g, '`$1`')
  return (/^.*?\.(?= [A-Z`'{]|$)/.exec(plain)?.[0] ?? plain) || undefined
}

function withoutComments(text) {
  return text.replace(/\/\*.*?\*\//gs, '')
}
