import { useState } from 'preact/hooks'
import { Choice } from '../../parts/choice.js'
import { limitWords } from '../../parts/limit-words.js'
import { Panel } from '../../parts/panel.js'
import { LabCopyButton } from '../controls/lab-copy-button.js'
import { DraftProblem } from '../settings/draft.js'
import type { LabResult } from '../settings/lab-settings.js'
import { CODE_LANGUAGES, type CodeLanguage, limitCode } from '../settings/limit-code.js'

interface CodePanelProps {
  readonly result: LabResult
}

/** A limit to copy into a program or a policy. */
export function CodePanel({ result }: CodePanelProps) {
  const [language, setLanguage] = useState<CodeLanguage>('TypeScript')
  const [chosen, setChosen] = useState(0)
  const { runs, cost } = result
  const limits = runs.flatMap((run) => (run === undefined || run instanceof DraftProblem ? [] : [run.limit]))
  const limit = limits[Math.min(chosen, limits.length - 1)]
  if (limit === undefined || cost instanceof DraftProblem) return null
  const code = limitCode(limit, cost, language)
  return (
    <Panel
      title="Code to copy"
      tools={
        <>
          <Choice label="Language" values={CODE_LANGUAGES} value={language} onChoose={setLanguage} />
          <LabCopyButton label="Copy code" text={() => code} />
        </>
      }
    >
      <label class="field code-limit">
        <span>Limit</span>
        <select value={limits.indexOf(limit)} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
          {limits.map((each, i) => (
            <option key={i} value={i}>
              {limitWords(each)}
            </option>
          ))}
        </select>
      </label>
      <pre class="code">
        <code>{code}</code>
      </pre>
    </Panel>
  )
}
