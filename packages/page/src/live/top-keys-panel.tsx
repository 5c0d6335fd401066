import { useState } from 'preact/hooks'
import type { LiveKey } from '../../../service/src/live/live-events.js'
import { Choice } from '../parts/choice.js'
import { numberText } from '../parts/number-text.js'
import { Panel } from '../parts/panel.js'
import { tokenWords } from '../shell/token-button.js'
import { type LiveModel, WAITING } from './live-model.js'
import { useHeld, useLive } from './use-live.js'

const SHOWN = 10

const LISTS = ['byLoad', 'byDenials'] as const

const WORDS = { byLoad: 'Load', byDenials: 'Denials' }

const NONE = {
  byLoad: 'No key was counted in the last minutes.',
  byDenials: 'No key was denied in the last minutes.',
}

/** The keys that ask most, or that are denied most. */
export function TopKeysPanel({ live }: { readonly live: LiveModel }) {
  useLive(live, 'hello', 'keys')
  const [list, setList] = useState<(typeof LISTS)[number]>('byLoad')
  const { keys, service } = live.scene
  const about =
    service === undefined || service.isAdmin
      ? undefined
      : `Keys are masked. ${tokenWords(service.hasAdmin)} to see them.`
  return (
    <Panel
      title="Top keys"
      about={about}
      tools={
        <Choice
          label="Top keys by"
          values={LISTS}
          wordsOf={(each) => WORDS[each]}
          value={list}
          onChoose={(each) => setList(each)}
        />
      }
    >
      <KeyList
        keys={(keys?.[list] ?? []).slice(0, SHOWN)}
        none={service === undefined ? WAITING : NONE[list]}
        withLevels
      />
    </Panel>
  )
}

/** The key of a level that has one state for all requests. */
const SHARED = '*'

interface KeyListProps {
  readonly keys: readonly LiveKey[]
  /** What to say if there are none. */
  readonly none: string
  readonly withLevels?: boolean
}

/** Keys with their counts, and bars that compare them. */
export function KeyList({ keys, none, withLevels = false }: KeyListProps) {
  const { held, handlers } = useHeld(keys)
  if (held.length === 0) return <p class="soft none">{none}</p>
  const most = Math.max(...held.map(({ count }) => count))
  return (
    <ol class="live-keys" {...handlers}>
      {held.map(({ level, key, count, error }) => (
        <li key={`${level} ${key}`}>
          <span class="key-bar" style={{ width: `${(count / most) * 100}%` }} />
          <span class="key-name">
            {key === SHARED ? 'all requests' : <code>{key}</code>}
            {withLevels && <span class="soft small">{level}</span>}
          </span>
          <span class="key-count" title={error === 0 ? undefined : `at least ${numberText(count - error)}`}>
            {error === 0 ? '' : '≤ '}
            {numberText(count)}
          </span>
        </li>
      ))}
    </ol>
  )
}
