import { basename } from 'node:path'
import type { PolicyAnswer, PolicyTextAnswer, PolicyTextProblem } from '../live/inspect-answer.js'
import type { PolicyFileProblem } from '../policy-file/policy-file-error.js'
import type { DecisionService } from '../serve/decision-service.js'
import type { PolicyText } from '../serve/policy-source.js'

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
  { file, text }: PolicyText,
  kind: PolicyTextProblem['kind'],
  problems: readonly PolicyFileProblem[],
): PolicyTextAnswer {
  // Lines and columns are counted without a byte order mark.
  const plain = text.replace(/^\ufeff/, '')
  return { file: basename(file), text: plain, problems: problems.map((each) => ({ kind, ...each })) }
}
