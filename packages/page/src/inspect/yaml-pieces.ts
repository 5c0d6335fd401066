/** A piece of a line of YAML or JSON, and how it is coloured. */
export interface YamlPiece {
  readonly kind: 'comment' | 'key' | 'text' | 'number' | 'mark' | 'plain'
  readonly text: string
}

const PIECE =
  /(?<comment>(?<=^|\s)#.*)|(?<key>(?:"(?:\\.|[^"\\])*"|'[^']*'|[A-Za-z_$][\w.$/-]*)(?=\s*:(?:\s|$)))|(?<text>"(?:\\.|[^"\\])*"?|'[^']*'?)|(?<number>(?<![\w.$/-])-?\d+(?:\.\d+)?(?![\w./:-]))|(?<mark>[{}[\],]|:(?=\s|$)|(?<=^\s*)-(?=\s))|(?<word>[\w.$/*:-]+)/g

/** Lines that are longer are shown in one colour: they are not written by hand. */
const LONGEST_LINE = 2_000

/**
 * Splits one line into coloured pieces; together they are the line. It knows what policies have: comments, keys, quoted
 * texts and numbers. Texts of several lines are shown as plain.
 */
export function yamlPieces(line: string): readonly YamlPiece[] {
  if (line.length > LONGEST_LINE) return [{ kind: 'plain', text: line }]
  const pieces: YamlPiece[] = []
  let end = 0
  const plain = (from: number, to: number) => {
    if (to > from) pieces.push({ kind: 'plain', text: line.slice(from, to) })
  }
  for (const match of line.matchAll(PIECE)) {
    const { word, ...kinds } = match.groups as Record<YamlPiece['kind'] | 'word', string | undefined>
    // A word is found so that a number or a mark inside it is not.
    if (word !== undefined) continue
    plain(end, match.index)
    const [kind] = Object.entries(kinds).find(([, text]) => text !== undefined) as [YamlPiece['kind'], string]
    pieces.push({ kind, text: match[0] })
    end = match.index + match[0].length
  }
  plain(end, line.length)
  return pieces
}
