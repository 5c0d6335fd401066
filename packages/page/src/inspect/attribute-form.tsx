import type { InspectAnswer } from '../../../service/src/live/inspect-answer.js'
import { changeAddress } from '../shell/page-address.js'
import { type AskedRequest, attributeValues, costProblem } from './asked-request.js'
import { FreeAttributes } from './free-attributes.js'
import { UnusedHint } from './unused-hint.js'

interface AttributeFormProps {
  readonly asked: AskedRequest
  /** The attributes that the policy asks about. */
  readonly known: readonly string[]
  readonly answer: InspectAnswer | undefined
  readonly again: () => void
  /** Goes from a recent request to its attributes. */
  readonly leaveRecent: () => void
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** A field for each attribute that the policy asks about, fields of one's own, and the cost. What is typed is asked at once. */
export function AttributeForm({ asked, known, answer, again, leaveRecent }: AttributeFormProps) {
  const isRecent = asked.recent !== undefined
  const shown = isRecent ? (answer?.attributes ?? {}) : asked.attributes
  const names = isRecent ? [...new Set([...known, ...Object.keys(shown)])] : known
  const put = (name: string, value: string) => changeAddress(attributeValues({ [name]: value }))
  const ask = (event: Event) => {
    event.preventDefault()
    again()
  }
  return (
    <form class="attributes" onSubmit={ask} aria-label="Attributes of the request">
      {isRecent && <RecentNote isMasked={answer?.isMasked !== false} leave={leaveRecent} />}
      {names.map((name) => (
        <label key={name} class="field">
          <span class="mono">{name}</span>
          <input
            class="mono"
            value={Object.hasOwn(shown, name) ? shown[name] : ''}
            placeholder="absent"
            readOnly={isRecent}
            list={name === 'method' ? 'methods' : undefined}
            spellcheck={false}
            autocapitalize="off"
            autocomplete="off"
            onInput={(event) => put(name, event.currentTarget.value)}
          />
        </label>
      ))}
      <datalist id="methods">
        {METHODS.map((method) => (
          <option key={method} value={method} />
        ))}
      </datalist>
      <CostField cost={asked.cost} />
      {!isRecent && <FreeAttributes known={known} attributes={asked.attributes} />}
      <UnusedHint unused={answer?.unused ?? []} attributes={isRecent ? undefined : asked.attributes} />
    </form>
  )
}

function RecentNote({ isMasked, leave }: { readonly isMasked: boolean; readonly leave: () => void }) {
  return (
    <div class="note spread">
      <p>A recent request. {isMasked && 'Its values are masked: they are shown with the admin token only.'}</p>
      <button type="button" class="button" onClick={leave}>
        {isMasked ? 'Type attributes instead' : 'Change its attributes'}
      </button>
    </div>
  )
}

function CostField({ cost }: { readonly cost: string }) {
  const problem = costProblem(cost)
  return (
    <>
      <label class="field">
        <span>Cost</span>
        <input
          class="mono"
          inputMode="numeric"
          value={cost}
          placeholder="1"
          autocomplete="off"
          aria-invalid={problem !== undefined}
          aria-describedby={problem === undefined ? undefined : 'cost-problem'}
          onInput={(event) => changeAddress({ cost: event.currentTarget.value.trim() })}
        />
      </label>
      {problem !== undefined && (
        <p class="problem small" id="cost-problem" role="alert">
          {problem}
        </p>
      )}
    </>
  )
}
