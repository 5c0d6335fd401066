import { useState } from 'preact/hooks'
import { numberText } from '../parts/number-text.js'
import { setAdminToken } from '../shell/admin-token.js'
import { AskError, ask } from '../shell/ask.js'
import type { LiveModel } from './live-model.js'
import { useLive } from './use-live.js'

/** What a person should know before reading the figures. */
export function LiveNotices({ live, retry }: { readonly live: LiveModel; readonly retry: () => void }) {
  useLive(live, 'link', 'hello', 'store', 'demo', 'policy')
  const { link, demo, policy, scene } = live
  return (
    <>
      {link.kind === 'refused' && (
        <div class="notice spread bad">
          <p>
            <b>The service refuses the token.</b> {link.why} It may have been changed. Forget it to look on with masked
            keys.
          </p>
          <button type="button" class="button" onClick={() => setAdminToken(undefined)}>
            Forget the token
          </button>
        </div>
      )}
      {link.kind === 'lost' && (
        <div class="notice spread bad">
          <p>
            <b>{link.why}</b>{' '}
            {scene.service === undefined
              ? 'The page begins to move as soon as it does.'
              : 'The figures are the last that came.'}
          </p>
          <button type="button" class="button" onClick={retry}>
            Try now
          </button>
        </div>
      )}
      {scene.store?.state === 'degraded' && link.kind === 'live' && (
        <div class="notice spread warn">
          <p>
            <b>Decisions are made without the store.</b> {scene.store.text}
          </p>
        </div>
      )}
      {policy.problems > 0 && link.kind === 'live' && (
        <PolicyNotice problems={policy.problems} isAdmin={scene.service?.isAdmin === true} />
      )}
      {scene.service?.isExample && (
        <div class="notice spread">
          <p>
            <b>This is the example policy.</b> For your own, start <code>sluice serve --policy policy.yaml</code>
          </p>
          {demo !== undefined && <DemoSwitch live={live} isRunning={demo.isRunning} />}
        </div>
      )}
    </>
  )
}

/** Only an admin can see what the problems are. */
function PolicyNotice({ problems, isAdmin }: { readonly problems: number; readonly isAdmin: boolean }) {
  const count = `${numberText(problems)} ${problems === 1 ? 'problem' : 'problems'}`
  return (
    <div class="notice spread bad" role="status">
      <p>
        <b>{`The policy file was changed and cannot be used: ${count}.`}</b> The policy before it is still in force.
      </p>
      {isAdmin && (
        <a class="button" href="#inspect">
          See the problems
        </a>
      )}
    </div>
  )
}

function DemoSwitch({ live, isRunning }: { readonly live: LiveModel; readonly isRunning: boolean }) {
  const [problem, setProblem] = useState<string>()
  const change = async () => {
    try {
      setProblem(undefined)
      await ask('/v1/demo', { running: !isRunning })
      live.setDemo({ isRunning: !isRunning })
    } catch (error) {
      setProblem(error instanceof AskError ? error.message : 'The service could not be asked.')
    }
  }
  return (
    <div class="row">
      {problem !== undefined && (
        <span class="problem small" role="alert">
          {problem}
        </span>
      )}
      <button type="button" class="switch" role="switch" aria-checked={isRunning} onClick={change}>
        <span class="switch-track" aria-hidden="true" />
        Demo traffic
      </button>
    </div>
  )
}
