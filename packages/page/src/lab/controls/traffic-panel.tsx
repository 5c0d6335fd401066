import { durationText, numberText } from '../../parts/number-text.js'
import { Panel } from '../../parts/panel.js'
import { DraftProblem, type Knob } from '../settings/draft.js'
import type { LabResult, LabSettings } from '../settings/lab-settings.js'
import {
  TRAFFIC_KINDS,
  TRAFFIC_WORDS,
  type TrafficKind,
  trafficDraft,
  trafficKnobs,
} from '../settings/traffic-draft.js'
import { KnobField } from './knob-field.js'

interface TrafficPanelProps {
  readonly settings: LabSettings
  readonly result: LabResult
  readonly onChange: (settings: LabSettings) => void
}

const COST: Knob = {
  name: 'cost',
  label: 'Cost of a request',
  form: 'count',
  unit: 'units',
  first: '1',
  least: 1,
  most: 100,
}

/** How requests arrive. */
export function TrafficPanel({ settings, result, onChange }: TrafficPanelProps) {
  const { traffic } = settings
  const problem = result.traffic instanceof DraftProblem ? result.traffic : undefined
  const choose = (kind: TrafficKind) => onChange({ ...settings, traffic: trafficDraft(kind, traffic.values) })
  return (
    <Panel title="Requests" tools={<span class="soft small">{summaryOf(result)}</span>}>
      <div class="knobs">
        <div class="knob">
          <label for="lab-traffic">They come</label>
          <select
            id="lab-traffic"
            value={traffic.kind}
            onChange={(event) => choose(event.currentTarget.value as TrafficKind)}
          >
            {TRAFFIC_KINDS.map((kind) => (
              <option key={kind} value={kind}>
                {TRAFFIC_WORDS[kind]}
              </option>
            ))}
          </select>
        </div>
        {trafficKnobs(traffic.kind).map((knob) => (
          <KnobField
            key={`${traffic.kind} ${knob.name}`}
            knob={knob}
            value={traffic.values[knob.name]}
            problem={problem}
            onChange={(value) =>
              onChange({ ...settings, traffic: { ...traffic, values: { ...traffic.values, [knob.name]: value } } })
            }
          />
        ))}
        <KnobField
          knob={COST}
          value={settings.cost}
          problem={result.cost instanceof DraftProblem ? result.cost : undefined}
          onChange={(cost) => onChange({ ...settings, cost })}
        />
      </div>
      {traffic.kind === 'trace' && (
        <p class="small soft">
          Paste a line for each request: milliseconds, an ISO time, or lines of an access log. It stays in this browser.
        </p>
      )}
      {problem !== undefined && problem.knob === undefined && <p class="problem small">{problem.message}</p>}
    </Panel>
  )
}

function summaryOf({ traffic }: LabResult): string {
  if (traffic instanceof DraftProblem) return ''
  const { atUs, lengthUs, originUs } = traffic
  const from =
    originUs === 0
      ? ''
      : `, from ${new Date(originUs / 1_000).toISOString().replace('.000Z', ' UTC').replace('T', ' ')}`
  return `${numberText(atUs.length)} ${atUs.length === 1 ? 'request' : 'requests'} in ${durationText(lengthUs / 1_000)}${from}`
}
