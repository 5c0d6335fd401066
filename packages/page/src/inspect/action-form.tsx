import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { AskError } from '../shell/ask.js'
import type { FieldProblem } from './problem-in.js'

interface ToldProblem {
  /** For the input. */
  readonly input: { readonly 'aria-invalid': boolean; readonly 'aria-describedby': string | undefined }
  /** For a place beside the input. */
  readonly note: ComponentChildren
}

/** What a field says of the problem: the field that has it says all of it. */
export type ProblemOf = (field: string) => ToldProblem

interface ActionFormProps {
  /** The word on the button. */
  readonly verb: string
  /** The name of the button for a screen reader, where several have the same verb. */
  readonly label?: string
  /** What will happen, in the sentence that asks for a confirmation. */
  readonly consequence: string
  /** What has happened. */
  readonly done: string
  /** What is wrong with the fields, before the form asks for a confirmation. Default: nothing is. */
  readonly check?: () => FieldProblem | undefined
  readonly act: () => Promise<unknown>
  readonly onChanged: () => void
  /** The fields. What `check` finds is told beside its field, and what the service finds below all of them. */
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
export function ActionForm({ verb, label, consequence, done, check, act, onChanged, children }: ActionFormProps) {
  const id = useId()
  const [stage, setStage] = useState<Stage>('edit')
  const [problem, setProblem] = useState<FieldProblem>()
  // The sentence would change with the fields.
  const [result, setResult] = useState('')
  const told = problem !== undefined && <Problem id={id} message={problem.message} />
  const problemOf = (field: string) => {
    const isInvalid = problem?.field === field
    const input = { 'aria-invalid': isInvalid, 'aria-describedby': isInvalid ? id : undefined }
    return { input, note: isInvalid && told }
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
      setProblem(problemOfAnswer(error))
      setStage('edit')
    }
  }
  const prepare = (event: Event) => {
    event.preventDefault()
    const found = check?.()
    setProblem(found)
    setStage(found === undefined ? 'confirm' : 'edit')
  }
  const isAsked = stage === 'confirm' || stage === 'busy'
  const begin = useRef<HTMLButtonElement>(null)
  useFocusAfter(isAsked, begin)
  return (
    <form class="action" onSubmit={prepare}>
      {children?.(problemOf)}
      {problem?.field === undefined && told}
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

function problemOfAnswer(error: unknown): FieldProblem {
  return { field: undefined, message: error instanceof AskError ? error.message : 'The service did not do it.' }
}

function Problem({ id, message }: { readonly id: string; readonly message: string }) {
  return (
    <p class="problem" id={id} role="alert">
      {message}
    </p>
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
