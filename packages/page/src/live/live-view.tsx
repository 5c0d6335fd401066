import { Panel } from '../parts/panel.js'

/** The view `live`. */
export function LiveView() {
  return <Panel title="Live">…</Panel>
}
