/** `sluice-service`: policies from YAML and JSON files. */
export { loadPolicyFile } from './policy-file/load-policy-file.js'
export { type ParsePolicyFileOptions, type PolicyFile, parsePolicyFile } from './policy-file/parse-policy-file.js'
export { PolicyFileError, type PolicyFileProblem } from './policy-file/policy-file-error.js'
