import { defineConfig } from 'vitest/config'

const common = {
  pool: 'forks' as const,
  testTimeout: 30_000,
  hookTimeout: 30_000,
  // Node itself loads built packages, as it does for a user's program.
  server: { deps: { external: [/\/packages\/[^/]+\/dist\//] } },
}

/** Tests that depend on real time, or on a server that does. They run one at a time, so that no other test delays them. */
const timed = [
  'packages/*/test/redis/**/*.test.ts',
  'packages/*/test/**/redis/**/*.test.ts',
  'packages/*/test/clients/{examples,faults-*}.test.ts',
  'packages/*/test/stores/memory-light.test.ts',
  'packages/*/test/stores/memory-shared.test.ts',
]

/** Redis tests that move time by hand and give Redis seconds to answer: another test cannot make them fail. */
const movedTime = [
  'packages/*/test/redis/{redis-store,expiring-store}.contract.test.ts',
  'packages/*/test/redis/{clients,long-log}.test.ts',
  'packages/*/test/policy/redis/{random-policies,random-deeds,cluster-random}.test.ts',
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
          name: 'moved time',
          include: movedTime,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...common,
          name: 'one by one',
          include: timed,
          exclude: movedTime,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
