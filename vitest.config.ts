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
  'packages/page/test/browser/{long-watch,first-chart}.test.ts',
]

/** Redis tests that move time by hand or bound none, and give Redis seconds to answer: another test cannot make them fail. */
const movedTime = [
  'packages/*/test/redis/{redis-store,expiring-store}.contract.test.ts',
  'packages/*/test/redis/{clients,cluster,fast-paths,leases,lending,long-log}.test.ts',
  'packages/*/test/policy/redis/{cluster,random-policies,random-deeds,cluster-random}.test.ts',
  'packages/*/test/serve/redis/workers.test.ts',
]

/** Tests that measure the memory or the CPU time of their process, change how it loads modules, or count all of its decisions. */
const ownProcess = [
  'packages/*/test/stores/memory-*.test.ts',
  'packages/*/test/shaper/alarms-and-memory.test.ts',
  'packages/*/test/waiting/many-waiters.test.ts',
  'packages/*/test/policy/matching/many-overrides.test.ts',
  'packages/*/test/policy-file/hostile-files.test.ts',
  'packages/*/test/**/*-costs.test.ts',
  'packages/*/test/http/adapters/nest*.test.ts',
  'packages/*/test/docs/recipes-monitoring.test.ts',
  'packages/service/test/recorder/metrics-door.test.ts',
]

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...common,
          name: 'side by side',
          include: ['packages/*/test/**/*.test.ts', 'scripts/test/**/*.test.{ts,mjs}'],
          exclude: [...timed, ...ownProcess],
          // A worker runs one file after another: to start a process for a file takes as long as most files do.
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...common,
          name: 'own process',
          include: ownProcess,
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
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...common,
          name: 'one by one',
          include: timed,
          exclude: [...movedTime, ...ownProcess],
          isolate: false,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...common,
          name: 'one by one, own process',
          include: timed.filter((pattern) => pattern.includes('/stores/memory-')),
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
