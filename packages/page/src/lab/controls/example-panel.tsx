import { Panel } from '../../parts/panel.js'
import { settingsOf } from '../articles/preset.js'
import { articlesOf, PRESETS, presetOf } from '../articles/presets.js'
import { isWholeInLink } from '../settings/lab-link.js'
import type { LabSettings } from '../settings/lab-settings.js'
import { addressOf } from '../settings/use-lab-settings.js'
import { LabCopyButton } from './lab-copy-button.js'

interface ExamplePanelProps {
  readonly settings: LabSettings
  /** Is the traffic one that the lab can read? */
  readonly isReadable: boolean
  /** Has the person changed the settings of the example? */
  readonly isChanged: boolean
  readonly onChange: (settings: LabSettings) => void
}

/** What the lab is, and which worked example it shows. */
export function ExamplePanel({ settings, isReadable, isChanged, onChange }: ExamplePanelProps) {
  const preset = presetOf(settings)
  const choose = (id: string) => {
    const chosen = PRESETS.find((each) => each.id === id)
    if (chosen !== undefined) onChange(settingsOf(chosen))
  }
  return (
    <Panel
      title="The same requests, under different limits"
      about="Each card below is one limit, and all of them get the same requests: the charts show which requests each limit lets through, and when. Choose a worked example, or change any number."
      tools={<LabCopyButton label="Copy link" text={() => addressOf(settings)} />}
    >
      <div class="example">
        <label class="field">
          <span>Worked example</span>
          <select value={preset?.id ?? ''} onChange={(event) => choose(event.currentTarget.value)}>
            {preset === undefined && <option value="">Your own</option>}
            {articlesOf(PRESETS).map((article) => (
              <optgroup key={article} label={article}>
                {PRESETS.filter((each) => each.article === article).map(({ id, title }) => (
                  <option key={id} value={id}>
                    {title}
                  </option>
                ))}
              </optgroup>
            ))}
          </select>
        </label>
        {preset !== undefined && (
          <div class="example-about">
            <p>{preset.about}</p>
            <p class="small soft">{`From “${preset.article}”.`}</p>
            {isChanged && (
              <p class="small soft">
                You have changed it.{' '}
                <button type="button" class="link" onClick={() => choose(preset.id)}>
                  Back to the example
                </button>
              </p>
            )}
          </div>
        )}
      </div>
      {!isWholeInLink(settings) && isReadable && (
        <p class="small soft">The trace is too long for a link: a link holds everything else.</p>
      )}
    </Panel>
  )
}
