import { limitWords } from '../parts/limit-words.js'
import { rateNumberText, shareText } from '../parts/number-text.js'
import { type LevelRates, lastMinute } from './level-rates.js'
import type { PageHistory } from './page-history.js'
import { Sparkline } from './sparkline.js'

/** Every row is as high as this, in pixels: so the table knows which rows are seen. */
export const ROW_HEIGHT = 52

interface LevelRowProps {
  readonly rates: LevelRates
  readonly history: PageHistory
  /** The row's number in the whole table, from 1. */
  readonly index: number
  readonly href: string
  readonly isChosen: boolean
}

/** A level: its name and limits, its rates, and its last minute. */
export function LevelRow({ rates, history, index, href, isChosen }: LevelRowProps) {
  const { level, place, admitted, denied } = rates
  const limits = level.limits.map(limitWords).join(' · ')
  return (
    <tr aria-rowindex={index} class={isChosen ? 'chosen' : undefined} style={{ height: `${ROW_HEIGHT}px` }}>
      <th scope="row" class="level-name">
        <span class="level-title">
          <a href={href} title={level.name} aria-current={isChosen ? 'true' : undefined}>
            {level.name}
          </a>
          {level.shadow && (
            <span class="chip" title="It denies nothing. Its denials are those that it would make.">
              shadow
            </span>
          )}
        </span>
        <span class="level-limits" title={limits}>
          {limits}
        </span>
      </th>
      <td class="number">
        {rateNumberText(admitted)}
        <span class="unit">/s</span>
      </td>
      <td class={denied > 0 && !level.shadow ? 'number of-denied' : 'number soft'}>
        {rateNumberText(denied)}
        <span class="unit">/s</span>
        {level.shadow && <span class="hidden"> would be denied</span>}
      </td>
      <td class="number wide">{shareText(denied, admitted + (level.shadow ? 0 : denied))}</td>
      <td class="wide">
        <Sparkline {...lastMinute(history, place)} />
      </td>
    </tr>
  )
}
