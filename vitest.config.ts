import { defineConfig } from 'vitest/config'

const common = {
  pool: 'forks' as const,
  testTimeout: 30_000,
  hookTimeout: 30_000,
  // Built packages are loaded by Node itself, as a user's program would load them.
  server: { deps: { external: [/\/packages\/[^/]+\/dist\//] } },
}

/** Those that watch the clock, or a server that does, and must not be kept waiting by others. */
const timed = [
  'packages/*/test/redis/**/*.test.ts',
  'packages/*/test/**/redis/**/*.test.ts',
  'packages/*/test/stores/memory-light.test.ts',
  'packages/*/test/stores/memory-shared.test.ts',
]

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...common,
          name: 'side by side',
          include: ['packages/*/test/**/*.test.ts', 'scripts/test/**/*.test.{ts,mjs}'],
          exclude: timed,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...common,
          name: 'one by one',
          include: timed,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
