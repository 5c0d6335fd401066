import { Panel } from '../parts/panel.js'

/** The view `inspect`. */
export function InspectView() {
  return <Panel title="Inspect">…</Panel>
}
