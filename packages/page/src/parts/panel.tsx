import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface PanelProps {
  readonly title: string
  /** A sentence under the title. */
  readonly about?: ComponentChildren
  /** Buttons and choices at the right of the title. */
  readonly tools?: ComponentChildren
  readonly class?: string
  readonly children: ComponentChildren
}

/** A part of a view with a title of its own. */
export function Panel({ title, about, tools, children, class: more }: PanelProps) {
  const id = useId()
  return (
    <section class={more === undefined ? 'panel' : `panel ${more}`} aria-labelledby={id}>
      <div class="panel-head spread">
        <h2 id={id}>{title}</h2>
        {tools !== undefined && <div class="row">{tools}</div>}
      </div>
      {about !== undefined && <p class="about">{about}</p>}
      {children}
    </section>
  )
}
