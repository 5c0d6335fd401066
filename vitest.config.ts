import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['packages/*/test/**/*.test.ts', 'scripts/test/**/*.test.{ts,mjs}'],
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Built packages are loaded by Node itself, as a user's program would load them.
    server: { deps: { external: [/\/packages\/[^/]+\/dist\//] } },
  },
})
