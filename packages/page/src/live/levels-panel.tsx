import { useEffect, useRef, useState } from 'preact/hooks'
import { Choice } from '../parts/choice.js'
import { numberText } from '../parts/number-text.js'
import { Panel } from '../parts/panel.js'
import { changeAddress, writeAddress } from '../shell/page-address.js'
import { LEVEL_ORDERS, levelRates, orderedLevels } from './level-rates.js'
import { LevelRow, ROW_HEIGHT } from './level-row.js'
import { type LiveModel, WAITING } from './live-model.js'
import type { LiveSettings } from './live-settings.js'
import { useHeld, useLive } from './use-live.js'

const WORDS = { denials: 'Denials', load: 'Load', name: 'Name' }

/** Rows above and below those that are seen: they are there when a person scrolls. */
const SPARE_ROWS = 4
const MOST_HEIGHT = 11.5 * ROW_HEIGHT

interface LevelsPanelProps {
  readonly live: LiveModel
  readonly settings: LiveSettings
  readonly values: Readonly<Record<string, string>>
}

/** The levels with their rates. Of a thousand levels only those that are seen are drawn. */
export function LevelsPanel({ live, settings, values }: LevelsPanelProps) {
  useLive(live, 'hello', 'frame')
  const { history, service } = live.scene
  const rates = levelRates(history)
  const found = orderedLevels(rates, settings.order, settings.filter)
  const all = rates.length
  const tools = (
    <>
      <input
        type="search"
        class="text live-filter"
        aria-label="Filter levels"
        placeholder="Filter levels"
        value={settings.filter}
        onInput={({ currentTarget }) => changeAddress({ filter: currentTarget.value })}
      />
      <Choice
        label="Sort levels by"
        values={LEVEL_ORDERS}
        wordsOf={(each) => WORDS[each]}
        value={settings.order}
        onChoose={(sort) => changeAddress({ sort })}
      />
    </>
  )
  return (
    <Panel title={titleOf(found.length, service === undefined ? undefined : all)} tools={tools} class="live-levels">
      {found.length === 0 ? (
        <p class="soft none">
          {service === undefined && WAITING}
          {service !== undefined && all === 0 && 'The policy has no level.'}
          {all > 0 && 'No level has this text in its name or limits.'}
        </p>
      ) : (
        <LevelTable found={found} history={history} values={values} resetKey={`${settings.order} ${settings.filter}`} />
      )}
    </Panel>
  )
}

/** `Levels (3 of 1,000)`, and before the service has told them `Levels`. */
function titleOf(found: number, all: number | undefined): string {
  if (all === undefined) return 'Levels'
  return `Levels (${found === all ? '' : `${numberText(found)} of `}${numberText(all)})`
}

interface LevelTableProps {
  readonly found: ReturnType<typeof orderedLevels>
  readonly history: LiveModel['scene']['history']
  readonly values: Readonly<Record<string, string>>
  /** Another key means another order: the table shows it from its top. */
  readonly resetKey: string
}

function LevelTable({ found, history, values, resetKey }: LevelTableProps) {
  const scroller = useRef<HTMLElement>(null)
  const [top, setTop] = useState(0)
  // The order stays while a person points at a row; the figures go on.
  const order = found.map(({ place }) => place)
  const { held, handlers } = useHeld({ order, resetKey })
  const shown = held.resetKey === resetKey ? inOrder(found, held.order) : found
  const first = Math.max(0, Math.min(Math.floor(top / ROW_HEIGHT) - SPARE_ROWS, shown.length - 1))
  const count = Math.ceil(MOST_HEIGHT / ROW_HEIGHT) + 2 * SPARE_ROWS
  const rows = shown.slice(first, first + count)
  // Another order is shown from its top
  useEffect(() => scroller.current?.scrollTo(0, 0), [resetKey])
  return (
    <section
      ref={scroller}
      class="level-scroll"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a person scrolls it by keys
      tabIndex={0}
      aria-label="Levels, by their rates"
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
      {...handlers}
    >
      <table class="table level-table" aria-rowcount={shown.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col">Level</th>
            <th scope="col" class="number">
              Allowed
            </th>
            <th scope="col" class="number">
              Denied
            </th>
            <th scope="col" class="number wide">
              Share denied
            </th>
            <th scope="col" class="wide">
              Last minute
            </th>
          </tr>
        </thead>
        <tbody>
          <Space rows={first} />
          {rows.map((rates, at) => (
            <LevelRow
              key={rates.level.name}
              rates={rates}
              history={history}
              index={first + at + 2}
              href={writeAddress('live', { ...values, level: rates.level.name })}
              isChosen={values.level === rates.level.name}
            />
          ))}
          <Space rows={Math.max(0, shown.length - first - rows.length)} />
        </tbody>
      </table>
      <p class="hidden">{`${numberText(shown.length)} levels. Rates are means of ten seconds.`}</p>
    </section>
  )
}

/** Stands for rows that are not drawn. */
function Space({ rows }: { readonly rows: number }) {
  if (rows === 0) return null
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row takes no focus
    <tr aria-hidden="true" class="level-space">
      {/* No column may be hidden under it: a phone shows three, and a table makes the others up. */}
      <td colSpan={3} style={{ height: `${rows * ROW_HEIGHT}px` }} />
    </tr>
  )
}

/** The levels in a former order. Levels that came meanwhile are last. */
function inOrder(found: LevelTableProps['found'], places: readonly number[]): LevelTableProps['found'] {
  const rank = new Map(places.map((place, at) => [place, at]))
  const rankOf = ({ place }: { readonly place: number }) => rank.get(place) ?? places.length
  return [...found].sort((a, b) => rankOf(a) - rankOf(b))
}
