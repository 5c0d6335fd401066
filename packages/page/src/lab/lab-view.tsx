import { Panel } from '../parts/panel.js'

/** The view `lab`. */
export function LabView() {
  return <Panel title="Lab">…</Panel>
}
