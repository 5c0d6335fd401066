import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { AskError } from '../shell/ask.js'

interface ProblemFields {
  readonly 'aria-invalid': boolean
  readonly 'aria-describedby': string | undefined
}

/** What a field says of the problem. With several fields, the one whose option the problem names has it. */
export type ProblemOf = (option?: string) => ProblemFields

interface ActionFormProps {
  /** The word on the button. */
  readonly verb: string
  /** The name of the button for a screen reader, where several have the same verb. */
  readonly label?: string
  /** What will happen, in the sentence that asks for a confirmation. */
  readonly consequence: string
  /** What has happened. */
  readonly done: string
  readonly act: () => Promise<unknown>
  readonly onChanged: () => void
  /** The fields. A problem that the service has with them is told beside them. */
  readonly children?: (problemOf: ProblemOf) => ComponentChildren
}

/** What each form knows. */
export interface ChangeParts {
  readonly level: string
  /** The key and its level in words. */
  readonly who: string
  readonly attributes: Readonly<Record<string, string>>
  readonly onChanged: () => void
}

type Stage = 'edit' | 'confirm' | 'busy' | 'done'

/** A change in three steps: fields, a sentence on what will happen with a button to confirm it, and the result in place. */
export function ActionForm({ verb, label, consequence, done, act, onChanged, children }: ActionFormProps) {
  const id = useId()
  const [stage, setStage] = useState<Stage>('edit')
  const [problem, setProblem] = useState<string>()
  // The sentence would change with the fields.
  const [result, setResult] = useState('')
  const problemOf = (option = '') => {
    const isInvalid = problem?.includes(option) === true
    return { 'aria-invalid': isInvalid, 'aria-describedby': isInvalid ? id : undefined }
  }
  const run = async () => {
    setStage('busy')
    try {
      await act()
      setResult(done)
      setProblem(undefined)
      setStage('done')
      onChanged()
    } catch (error) {
      setProblem(error instanceof AskError ? error.message : 'The service did not do it.')
      setStage('edit')
    }
  }
  const prepare = (event: Event) => {
    event.preventDefault()
    setProblem(undefined)
    setStage('confirm')
  }
  const isAsked = stage === 'confirm' || stage === 'busy'
  const begin = useRef<HTMLButtonElement>(null)
  useFocusAfter(isAsked, begin)
  return (
    <form class="action" onSubmit={prepare}>
      {children?.(problemOf)}
      {problem !== undefined && (
        <p class="problem" id={id} role="alert">
          {problem}
        </p>
      )}
      {isAsked ? (
        <Confirmation
          verb={verb}
          consequence={consequence}
          isBusy={stage === 'busy'}
          run={run}
          cancel={() => setStage('edit')}
        />
      ) : (
        <div class="row">
          <button type="submit" class="button" aria-label={label} ref={begin}>
            {verb}…
          </button>
        </div>
      )}
      <p class="action-done" role="status">
        {stage === 'done' ? result : ''}
      </p>
    </form>
  )
}

/** The confirmation goes away with the focus in it: the focus returns to the button that asked for it. */
function useFocusAfter(isAsked: boolean, button: { readonly current: HTMLElement | null }): void {
  const wasAsked = useRef(false)
  useEffect(() => {
    if (wasAsked.current && !isAsked) button.current?.focus()
    wasAsked.current = isAsked
  }, [isAsked, button])
}

interface ConfirmationProps {
  readonly verb: string
  readonly consequence: string
  readonly isBusy: boolean
  readonly run: () => void
  readonly cancel: () => void
}

function Confirmation({ verb, consequence, isBusy, run, cancel }: ConfirmationProps) {
  const id = useId()
  const confirm = useRef<HTMLButtonElement>(null)
  useEffect(() => confirm.current?.focus(), [])
  const hear = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && !isBusy) cancel()
  }
  return (
    <fieldset class="confirmation" aria-describedby={id} onKeyDown={hear}>
      <legend class="hidden">Confirm</legend>
      <p id={id}>{consequence}</p>
      <div class="row">
        <button
          type="button"
          class="button primary"
          ref={confirm}
          aria-describedby={id}
          disabled={isBusy}
          onClick={run}
        >
          {verb}
        </button>
        <button type="button" class="button" disabled={isBusy} onClick={cancel}>
          Cancel
        </button>
      </div>
    </fieldset>
  )
}
