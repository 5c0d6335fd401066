import { CopyCommand } from '../parts/copy-command.js'
import { Panel } from '../parts/panel.js'
import type { LiveModel } from './live-model.js'
import { useLive } from './use-live.js'

/** What to do when the service has decided nothing yet. */
export function NoTraffic({ live }: { readonly live: LiveModel }) {
  useLive(live, 'hello', 'frame', 'demo')
  const { service, history, frame } = live.scene
  if (service === undefined || frame === undefined || hasDecided(history)) return null
  return (
    <Panel title="No traffic yet" class="live-none">
      <p>
        The service runs and has decided nothing so far. Ask it, from a terminal, and the charts begin to move
        {live.demo === undefined ? '.' : ', or switch the demo traffic on.'}
      </p>
      <CopyCommand command={checkCommand(location.origin, service.attributes)} />
    </Panel>
  )
}

function hasDecided({ seconds, tens }: LiveModel['scene']['history']): boolean {
  return [seconds, tens].some((ring) => {
    for (let row = 0; row < ring.size; row++)
      if (ring.total(row, 'allowed') + ring.total(row, 'denied') > 0) return true
    return false
  })
}

const EXAMPLES = new Map([
  ['method', 'POST'],
  ['path', '/v1/charges'],
  ['ip', '192.0.2.7'],
  ['mode', 'live'],
])

/** A command that asks about one request, with a value for each attribute of the policy. */
export function checkCommand(origin: string, attributes: readonly string[]): string {
  const values = Object.fromEntries(attributes.map((name) => [name, EXAMPLES.get(name) ?? `${name}_1`]))
  // A quote would end the text of the shell.
  const body = JSON.stringify({ attributes: values }).replaceAll("'", '\\u0027')
  return `curl -s ${origin}/v1/check -d '${body}'`
}
