import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { PolicyTextAnswer, PolicyTextProblem } from '../../../service/src/live/inspect-answer.js'
import { numberText } from '../parts/number-text.js'
import { type LineRange, levelLines } from './level-lines.js'
import { PolicyLine } from './policy-line.js'

interface PolicyTextProps {
  readonly answer: PolicyTextAnswer
  /** The level whose lines are marked. */
  readonly level: string | undefined
}

/** A text with more lines is shown in part, around the line that is looked for: a policy can have a hundred thousand lines. */
const MOST_LINES = 1_500

/** A text of a policy with its line numbers. Problems are listed, and underlined where they are. */
export function PolicyText({ answer: { file, text, problems }, level }: PolicyTextProps) {
  const [line, setLine] = useState<number>()
  const box = useRef<HTMLElement>(null)
  const lines = useMemo(() => text.replace(/\n$/, '').split('\n'), [text])
  const marked = useMemo(() => (level === undefined ? undefined : levelLines(lines, level)), [lines, level])
  const target = line ?? marked?.first
  const { first, last } = shownLines(lines.length, target ?? problems[0]?.line ?? 1)
  // Another level is another place to look at.
  useEffect(() => setLine(undefined), [level])
  useEffect(() => {
    if (target !== undefined && box.current !== null) scrollTo(box.current, target)
  }, [target])
  // The view is drawn again every second, and the text is the largest part of it.
  const rows = useMemo(
    () =>
      lines
        .slice(first - 1, last)
        .map((each, i) => (
          <PolicyLine
            key={first + i}
            line={each}
            number={first + i}
            problems={problems.filter(({ line: at }) => at === first + i)}
            isMarked={isIn(marked, first + i)}
            isTarget={line === first + i}
          />
        )),
    [lines, problems, first, last, marked, line],
  )
  const show = (wanted: number) => {
    setLine(wanted)
    box.current?.focus({ preventScroll: true })
    if (box.current !== null) scrollTo(box.current, wanted)
  }
  return (
    <>
      <Problems problems={problems} show={show} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the box scrolls, so the keyboard must reach it */}
      <section class="policy-text" ref={box} tabIndex={0} aria-label={`Text of ${file}`}>
        {rows}
      </section>
      {lines.length > MOST_LINES && (
        <p class="soft small">
          Lines {numberText(first)} to {numberText(last)} of {numberText(lines.length)}.
        </p>
      )}
    </>
  )
}

function Problems({ problems, show }: { problems: readonly PolicyTextProblem[]; show: (line: number) => void }) {
  if (problems.length === 0) return null
  return (
    <ul class="policy-problems" aria-label="Problems of the policy">
      {problems.map(({ kind, line, column, message }) => (
        <li key={`${line}:${column} ${message}`} class={kind}>
          <button type="button" class="link" onClick={() => show(line)}>
            {kind === 'error' ? 'Error' : 'Warning'} in line {line}
          </button>{' '}
          <span>{message}</span>
        </li>
      ))}
    </ul>
  )
}

function isIn(range: LineRange | undefined, line: number): boolean {
  return range !== undefined && line >= range.first && line <= range.last
}

/** Which lines are shown, so that `wanted` is among them. */
function shownLines(count: number, wanted: number): LineRange {
  if (count <= MOST_LINES) return { first: 1, last: count }
  const first = Math.min(Math.max(1, wanted - MOST_LINES / 2), count - MOST_LINES + 1)
  return { first, last: first + MOST_LINES - 1 }
}

/** Scrolls the box only: the page stays where it is. */
function scrollTo(box: HTMLElement, line: number): void {
  const element = box.querySelector<HTMLElement>(`[data-line="${line}"]`)
  if (element !== null) box.scrollTop = element.offsetTop - box.clientHeight / 4
}
