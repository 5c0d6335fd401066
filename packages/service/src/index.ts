export * from './policy-file/index.js'
