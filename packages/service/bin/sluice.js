#!/usr/bin/env node
// Here and not in dist, because npm links commands before anything is built.
await import('../dist/cli/main.js').catch((error) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
  console.error('sluice is not built yet: npm run build')
  process.exitCode = 1
})
