import { basename } from 'node:path'
import { problemsInText } from '../envoy-rules/parse-envoy-rules.js'
import type { PolicyAnswer, PolicyTextAnswer, PolicyTextProblem } from '../live/inspect-answer.js'
import type { PolicyFileProblem } from '../policy-file/policy-file-error.js'
import type { DecisionService } from '../serve/decision-service.js'
import type { PolicyText } from '../serve/served-policy.js'

/**
 * The texts of a policy for the page: the one in force with its warnings, and the one that was read after it and refused. The
 * folders of the file tell about the machine, so they are left out.
 */
export function policyAnswer({ file, refused }: DecisionService): PolicyAnswer {
  return {
    inForce: textAnswer(file, 'warning', file.warnings),
    ...(refused !== undefined && { refused: textAnswer(refused, 'error', refused.problems) }),
  }
}

function textAnswer(
  policy: PolicyText,
  kind: PolicyTextProblem['kind'],
  problems: readonly PolicyFileProblem[],
): PolicyTextAnswer {
  const { file, text } = policy
  // Lines and columns are counted without a byte order mark.
  const plain = text.replace(/^\ufeff/, '')
  return {
    file: basename(file),
    text: plain,
    problems: problemsOf(policy, problems).map((each) => ({ kind, ...each })),
  }
}

/** Problems with their lines in the text of the policy, also if that is made of several files. */
export function problemsOf(
  { files }: PolicyText,
  problems: readonly PolicyFileProblem[],
): readonly PolicyFileProblem[] {
  return files === undefined ? problems : problemsInText(files, problems)
}
