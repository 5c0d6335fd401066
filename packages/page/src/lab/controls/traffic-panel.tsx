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

/** How to write what is written in lines. */
const HINTS: Partial<Readonly<Record<TrafficKind, string>>> = {
  list: '20@0 is 20 requests at 0 s. 1@2+0.5x10 is one at 2 s and one each half second after it, ten in all.',
  trace: 'A line for each request: milliseconds, an ISO time, or a line of an access log. It stays in this browser.',
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
      {HINTS[traffic.kind] !== undefined && <p class="small soft">{HINTS[traffic.kind]}</p>}
      <p class="small soft wide-only">
        Drag over a chart to look closer; a double click shows all again. All charts have one cursor.
      </p>
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
