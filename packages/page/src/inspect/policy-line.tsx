import type { PolicyTextProblem } from '../../../service/src/live/inspect-answer.js'
import { type YamlPiece, yamlPieces } from './yaml-pieces.js'

interface PolicyLineProps {
  readonly line: string
  /** Counts from 1. */
  readonly number: number
  readonly problems: readonly PolicyTextProblem[]
  readonly isMarked: boolean
  readonly isTarget: boolean
}

/** One line of a policy with its number. Its problems are underlined from their column on, and told below. */
export function PolicyLine({ line, number, problems, isMarked, isTarget }: PolicyLineProps) {
  const [problem] = problems
  const [before, from] = problem === undefined ? [line, ''] : splitAt(line, problem.column)
  return (
    <>
      <span class={`policy-line${isMarked ? ' marked' : ''}${isTarget ? ' target' : ''}`} data-line={number}>
        <span class="line-number" aria-hidden="true">
          {number}
        </span>
        <code>
          {pieces(before)}
          {from !== '' && <span class={`underlined ${problem.kind}`}>{pieces(from)}</span>}
        </code>
      </span>
      {problems.map(({ kind, column, message }) => (
        <span key={`${column} ${message}`} class={`line-note ${kind}`}>
          {message}
        </span>
      ))}
    </>
  )
}

/** The part that is underlined is never empty, unless the line is. */
function splitAt(line: string, column: number): [string, string] {
  const end = line.trimEnd().length
  const at = Math.max(0, Math.min(column - 1, end - 1))
  return [line.slice(0, at), line.slice(at)]
}

function pieces(text: string) {
  return yamlPieces(text).map((piece: YamlPiece, i: number) =>
    piece.kind === 'plain' ? (
      piece.text
    ) : (
      // Pieces have no names: their place is their name.
      <span key={i} class={`yaml-${piece.kind}`}>
        {piece.text}
      </span>
    ),
  )
}
