import { useRef, useState } from 'preact/hooks'
import { setAdminToken, useAdminToken, useIsTokenRefused } from './admin-token.js'
import { AskError, tryToken } from './ask.js'

const WITH_TOKEN = 'Give the admin token (Viewer, at the top)'
const WITHOUT_TOKEN = 'Start the service with --admin-token'

const ROLES = {
  viewer: { name: 'Viewer', about: 'Keys are masked', dot: 'dot' },
  admin: { name: 'Admin', about: 'Keys are shown', dot: 'dot on' },
  refused: { name: 'Token refused', about: 'The service refuses the admin token', dot: 'dot bad' },
}

/**
 * How a person gets to what only the admin token shows, as the beginning of a sentence: `${tokenWords(hasAdmin)} to see them.` A
 * service without a token refuses every one, so there it is no use to give one.
 */
export function tokenWords(hasAdmin: boolean): string {
  return hasAdmin ? WITH_TOKEN : WITHOUT_TOKEN
}

/** The button that gives or forgets the admin token. With it the page shows keys and can change limits. */
export function TokenButton() {
  const token = useAdminToken()
  const isRefused = useIsTokenRefused()
  const role = isRefused ? ROLES.refused : token === undefined ? ROLES.viewer : ROLES.admin
  const dialog = useRef<HTMLDialogElement>(null)
  return (
    <>
      <button
        type="button"
        class="button quiet"
        aria-haspopup="dialog"
        onClick={() => dialog.current?.showModal()}
        title={role.about}
      >
        <span class={role.dot} aria-hidden="true" />
        {role.name}
      </button>
      <dialog ref={dialog} class="dialog" aria-labelledby="token-title">
        {token === undefined ? (
          <GiveToken close={() => dialog.current?.close()} />
        ) : (
          <form method="dialog">
            <h2 id="token-title">{isRefused ? 'The service refuses the token' : 'You are an admin in this tab'}</h2>
            <p>
              {isRefused
                ? 'It may have been changed. Forget it to look on with masked keys, or to give another one.'
                : 'The page shows keys and can change limits. The token is kept until the tab is closed.'}
            </p>
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
