import type { UnusedAttribute } from '../../../service/src/live/inspect-answer.js'
import { changeAddress } from '../shell/page-address.js'
import { attributeValues } from './asked-request.js'

interface UnusedHintProps {
  readonly unused: readonly UnusedAttribute[]
  /** What was typed; `undefined` if it cannot be changed. */
  readonly attributes: Readonly<Record<string, string>> | undefined
}

/** Attributes that the policy never asks about: a misspelt one skips its levels in silence. */
export function UnusedHint({ unused, attributes }: UnusedHintProps) {
  if (unused.length === 0) return null
  return (
    <div class="unused" role="status">
      <ul>
        {unused.map(({ attribute, didYouMean }) => (
          <li key={attribute}>
            <span>
              The policy never asks about <code>{attribute}</code>.
            </span>
            {didYouMean !== undefined && attributes !== undefined && Object.hasOwn(attributes, attribute) && (
              <button
                type="button"
                class="link"
                onClick={() =>
                  changeAddress(
                    attributeValues({ [didYouMean]: attributes[attribute] }, { [attribute]: attributes[attribute] }),
                  )
                }
              >
                Did you mean {didYouMean}?
              </button>
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}
