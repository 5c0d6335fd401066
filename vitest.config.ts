import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['packages/*/test/**/*.test.ts', 'scripts/test/**/*.test.{ts,mjs}'],
    pool: 'forks',
    // Many tests wait for a server, so that two keep even a small machine busy.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Built packages are loaded by Node itself, as a user's program would load them.
    server: { deps: { external: [/\/packages\/[^/]+\/dist\//] } },
  },
})
