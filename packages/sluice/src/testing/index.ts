/** `sluice/testing`: a clock that tests move, the contract that every store keeps, and worked examples. */
export type { ContractExemptions } from './contract-exemptions.js'
export { ManualClock } from './manual-clock.js'
export { type ContractCase, type StoreFactory, storeContract } from './store-contract.js'
export { type WorkedExample, type WorkedStep, workedExamples } from './worked-examples.js'
