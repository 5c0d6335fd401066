/** Policies from files. */
export { loadPolicyFile } from './load-policy-file.js'
export { type ParsePolicyFileOptions, type PolicyFile, parsePolicyFile } from './parse-policy-file.js'
export { PolicyFileError, type PolicyFileProblem } from './policy-file-error.js'
