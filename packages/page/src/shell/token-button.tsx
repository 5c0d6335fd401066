import { useRef, useState } from 'preact/hooks'
import { setAdminToken, useAdminToken } from './admin-token.js'
import { AskError, tryToken } from './ask.js'

/** The button that gives or forgets the admin token. With it the page shows keys and can change limits. */
export function TokenButton() {
  const token = useAdminToken()
  const dialog = useRef<HTMLDialogElement>(null)
  return (
    <>
      <button
        type="button"
        class="button quiet"
        aria-haspopup="dialog"
        onClick={() => dialog.current?.showModal()}
        title={token === undefined ? 'Keys are masked' : 'Keys are shown'}
      >
        <span class={token === undefined ? 'dot' : 'dot on'} aria-hidden="true" />
        {token === undefined ? 'Viewer' : 'Admin'}
      </button>
      <dialog ref={dialog} class="dialog" aria-labelledby="token-title">
        {token === undefined ? (
          <GiveToken close={() => dialog.current?.close()} />
        ) : (
          <form method="dialog">
            <h2 id="token-title">You are an admin in this tab</h2>
            <p>The page shows keys and can change limits. The token is kept until the tab is closed.</p>
            <div class="row end">
              <button type="submit" class="button">
                Stay
              </button>
              <button type="submit" class="button" onClick={() => setAdminToken(undefined)}>
                Forget the token
              </button>
            </div>
          </form>
        )}
      </dialog>
    </>
  )
}

function GiveToken({ close }: { readonly close: () => void }) {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string>()
  const give = async (event: Event) => {
    event.preventDefault()
    const given = text.trim()
    try {
      await tryToken(given)
      setAdminToken(given)
      close()
    } catch (error) {
      setProblem(error instanceof AskError ? error.message : 'The token could not be tried.')
    }
  }
  return (
    <form onSubmit={give}>
      <h2 id="token-title">Give the admin token</h2>
      <p>
        Without it keys are masked and nothing can be changed. It is the text behind <code>--admin-token</code> or in{' '}
        <code>SLUICE_ADMIN_TOKEN</code>.
      </p>
      <label class="field">
        <span>Admin token</span>
        <input
          type="password"
          autocomplete="off"
          required
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <div class="row end">
        <button type="button" class="button" onClick={close}>
          Cancel
        </button>
        <button type="submit" class="button primary">
          Give it
        </button>
      </div>
    </form>
  )
}
