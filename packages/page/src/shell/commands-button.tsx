import { useRef, useState } from 'preact/hooks'
import { readAskedRequest } from '../inspect/asked-request.js'
import { CopyCommand } from '../parts/copy-command.js'
import { commands } from './commands.js'
import { useAddress } from './page-address.js'

/** The button that shows commands for a terminal. */
export function CommandsButton() {
  const dialog = useRef<HTMLDialogElement>(null)
  const [isOpen, setOpen] = useState(false)
  const { view, values } = useAddress()
  const attributes = view === 'inspect' ? readAskedRequest(values).attributes : {}
  const open = () => {
    setOpen(true)
    dialog.current?.showModal()
  }
  return (
    <>
      <button type="button" class="button quiet commands-button" aria-haspopup="dialog" onClick={open}>
        <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" class="icon">
          <path d="M2.5 4l4 4-4 4M8.5 12.5h5" />
        </svg>
        <span class="tool-text">Commands</span>
      </button>
      <dialog ref={dialog} class="dialog commands" aria-labelledby="commands-title" onClose={() => setOpen(false)}>
        {isOpen && (
          <form method="dialog">
            <h2 id="commands-title">Commands to copy</h2>
            <p class="soft">
              For a terminal. In a clone, write <code>npx sluice</code>.
            </p>
            {commands(location.origin, attributes).map(({ title, text }) => (
              <div key={title}>
                <h3>{title}</h3>
                <CopyCommand command={text} />
              </div>
            ))}
            <div class="row end">
              <button type="submit" class="button">
                Close
              </button>
            </div>
          </form>
        )}
      </dialog>
    </>
  )
}
