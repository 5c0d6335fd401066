import { useMemo } from 'preact/hooks'
import { Panel } from '../../parts/panel.js'
import type { Preset } from '../articles/preset.js'

interface FiguresPanelProps {
  readonly preset: Preset
  /** Has the person changed the settings of the example? */
  readonly isChanged: boolean
}

/** The figures of the article beside those of the library. */
export function FiguresPanel({ preset, isChanged }: FiguresPanelProps) {
  const figures = useMemo(preset.figures, [preset])
  if (figures.length === 0) return null
  const different = figures.filter(({ why }) => why !== undefined).length
  const words =
    different === 0
      ? 'all are equal'
      : different === 1
        ? 'one differs, and says why'
        : `${different} differ, and say why`
  return (
    <Panel
      title="The article’s figures, and the library’s"
      about={`“${preset.article}”. The right column is decided by the library while you look: ${words}.${isChanged ? ' Your changes do not change this table.' : ''}`}
    >
      <table class="table stacked figures">
        <thead>
          <tr>
            <th scope="col">{preset.title}</th>
            <th scope="col">Article</th>
            <th scope="col">Sluice</th>
          </tr>
        </thead>
        <tbody>
          {figures.map(({ what, article, ours, why }) => (
            <tr key={what} class={why === undefined ? undefined : 'differs'}>
              <th scope="row">
                {what}
                {why !== undefined && <span class="why">{why}</span>}
              </th>
              <td data-label="Article">{article}</td>
              <td data-label="Sluice">
                {ours}
                {why === undefined ? <Equal /> : <span class="chip degraded">differs</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  )
}

function Equal() {
  return (
    <span class="equal">
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" class="icon">
        <path d="M3 8.5l3.2 3.2L13 5" />
      </svg>
      <span class="hidden">equal</span>
    </span>
  )
}
