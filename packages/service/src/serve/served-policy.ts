import type { EnvoyRules } from '../envoy-rules/compile-rules.js'
import { parseEnvoyRules, type RulesFile, type RulesOptions, textOfRules } from '../envoy-rules/parse-envoy-rules.js'
import { readRulesFolder } from '../envoy-rules/read-rules-folder.js'
import { readPolicyText } from '../policy-file/load-policy-file.js'
import { type FindFaults, type PolicyFile, readPolicyFile } from '../policy-file/parse-policy-file.js'
import { policyFileErrorOf } from '../policy-file/policy-file-error.js'
import { watchPath, watchRules } from './watch-path.js'

/** What a service serves: a policy file, or a folder with rules for Envoy. */
export interface ServedPolicy extends PolicyFile {
  /** Present if the policy was made of rules. */
  readonly envoy?: EnvoyRules
  /** The files with the rules. `text` has them all. */
  readonly files?: readonly RulesFile[]
  readonly rulesOptions?: RulesOptions
}

/** The text of a policy, or those of rules: all that a worker needs. The ending of a file's name tells YAML from JSON. */
export type PolicyText = Pick<ServedPolicy, 'file' | 'text' | 'files' | 'rulesOptions'>

/** Where a policy comes from. */
export interface PolicyPlace {
  readonly path: string
  /** Rejects with a `PolicyFileError` if it cannot be read. */
  read(): Promise<PolicyText>
  /** Calls `onChange` when there may be something new. Returns a function that ends that. */
  watch(onChange: () => void): () => void
}

/** A policy file. */
export function policyFilePlace(path: string): PolicyPlace {
  return {
    path,
    read: async () => {
      try {
        return { file: path, text: await readPolicyText(path) }
      } catch (error) {
        throw policyFileErrorOf(path, error)
      }
    },
    watch: (onChange) => watchPath(path, onChange),
  }
}

/** A folder with rules for Envoy. */
export function rulesPlace(path: string, rulesOptions: RulesOptions): PolicyPlace {
  return {
    path,
    read: async () => {
      const files = await readRulesFolder(path)
      return { file: path, text: textOfRules(path, files), files, rulesOptions }
    },
    watch: (onChange) => watchRules(path, onChange),
  }
}

/** Reads a policy or rules from their texts. If they have any problem, throws one `PolicyFileError` with all of them. */
export function parseServed(given: PolicyText, findFaults: FindFaults = () => []): ServedPolicy {
  const { file, text, files, rulesOptions } = given
  return files === undefined
    ? readPolicyFile(text, file, findFaults)
    : parseEnvoyRules(file, files, rulesOptions, findFaults)
}

/** What a worker must have to read the same policy. */
export function textToSend({ file, text, files, rulesOptions }: ServedPolicy): PolicyText {
  return files === undefined
    ? { file, text }
    : { file, text, files, ...(rulesOptions !== undefined && { rulesOptions }) }
}
