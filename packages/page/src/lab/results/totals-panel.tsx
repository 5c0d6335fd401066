import { limitWords } from '../../parts/limit-words.js'
import { durationText, numberText, shareText } from '../../parts/number-text.js'
import { Panel } from '../../parts/panel.js'
import type { Run } from '../engine/simulate.js'
import { DraftProblem } from '../settings/draft.js'
import type { LabResult } from '../settings/lab-settings.js'

interface TotalsPanelProps {
  readonly result: LabResult
}

const COLUMNS = ['Arrived', 'Allowed', 'Denied', 'Longest wait', 'Most to pass in any'] as const

/** What every limit did, as numbers. */
export function TotalsPanel({ result }: TotalsPanelProps) {
  const runs = result.runs.filter((run): run is Run => run !== undefined && !(run instanceof DraftProblem))
  if (runs.length === 0) return null
  return (
    <Panel title="Totals">
      <p class="hidden" aria-live="polite">
        {summaryOf(runs)}
      </p>
      <table class="table stacked">
        <caption class="hidden">What each limit did with the requests</caption>
        <thead>
          <tr>
            <th scope="col">Limit</th>
            {COLUMNS.map((column) => (
              <th key={column} scope="col" class="number">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {runs.map((run, i) => (
            <tr key={i}>
              <th scope="row">{limitWords(run.limit)}</th>
              {valuesOf(run).map((value, column) => (
                <td key={COLUMNS[column]} class="number" data-label={COLUMNS[column]}>
                  {value}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  )
}

function valuesOf({ totals }: Run): readonly string[] {
  const { arrived, admitted, denied, longestWaitMs, mostUnits, windowUs } = totals
  return [
    numberText(arrived),
    `${numberText(admitted)} (${shareText(admitted, arrived)})`,
    `${numberText(denied)} (${shareText(denied, arrived)})`,
    longestWaitMs === 0 ? 'none' : durationText(longestWaitMs),
    `${durationText(windowUs / 1_000)}: ${numberText(mostUnits)} ${mostUnits === 1 ? 'unit' : 'units'}`,
  ]
}

function summaryOf(runs: readonly Run[]): string {
  const each = runs.map(
    ({ limit, totals }) => `${limitWords(limit)} allows ${totals.admitted} and denies ${totals.denied}`,
  )
  return `Of ${runs[0].totals.arrived} requests: ${each.join('; ')}.`
}
