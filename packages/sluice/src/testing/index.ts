/** `sluice/testing`: a clock to move, the contract that every store keeps, and the worked examples of the articles. */
export { ManualClock } from './manual-clock.js'
export { type ContractCase, type StoreFactory, storeContract } from './store-contract.js'
export { type WorkedExample, type WorkedStep, workedExamples } from './worked-examples.js'
