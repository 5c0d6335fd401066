import type { ComponentChildren } from 'preact'
import { durationText } from '../parts/number-text.js'
import { Panel } from '../parts/panel.js'
import { type LiveModel, WAITING } from './live-model.js'
import { useLive } from './use-live.js'

const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })

/** Which process the page shows: an operator has many of them open. */
export function ProcessPanel({ live }: { readonly live: LiveModel }) {
  useLive(live, 'hello', 'frame')
  const { service, history, frame } = live.scene
  if (service === undefined)
    return (
      <Panel title="This process">
        <p class="soft none">{WAITING}</p>
      </Panel>
    )
  const workers = frame?.workers ?? service.workers
  const upMs = Math.max(0, (frame?.atMs ?? service.startedMs) - service.startedMs)
  return (
    <Panel title="This process" class="live-process">
      <dl class="facts">
        <Fact name="Host">{service.host}</Fact>
        <Fact name="Process">{service.pid}</Fact>
        <Fact name="Workers">
          {workers === service.workers ? workers : `${workers} of ${service.workers} have reported`}
        </Fact>
        <Fact name="Since">{`${DATE.format(service.startedMs)}, for ${durationText(Math.floor(upMs / 1_000) * 1_000)}`}</Fact>
        <Fact name="Version">{service.version}</Fact>
        <Fact name="Store">{service.store}</Fact>
        <Fact name="Policy">
          {service.isExample ? `${history.levels.policy} (the example)` : history.levels.policy}
        </Fact>
      </dl>
      <p class="soft small">
        Figures are those of this process and its workers. Over a fleet, let Prometheus gather{' '}
        <a href="/metrics">/metrics</a>.
      </p>
    </Panel>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
