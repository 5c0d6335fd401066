/** With it, a test runs this seed alone: `SLUICE_SEED=17 npx vitest run simulator/law`. */
export const onlySeed = process.env.SLUICE_SEED === undefined ? undefined : Number(process.env.SLUICE_SEED)

/** No simulation takes so long: one that does hangs. */
const LONGEST_MS = 120_000

/**
 * Runs a test for the seeds from 0 to `count` − 1, or for the one that SLUICE_SEED names. Whatever fails, the error begins with
 * the command that replays the seed: a law that does not hold, an exception, or a simulation that does not end.
 */
export async function eachSeed(file: string, count: number, run: (seed: number) => Promise<void>): Promise<void> {
  const seeds = onlySeed === undefined ? Array.from({ length: count }, (_, i) => i) : [onlySeed]
  for (const seed of seeds) {
    try {
      await inTime(run(seed))
    } catch (error) {
      const replay = `SLUICE_SEED=${seed} npx vitest run ${file}`
      if (!(error instanceof Error)) throw new Error(`${replay}: ${error}`)
      error.message = `${replay}: ${error.message}`
      throw error
    }
  }
}

function inTime(run: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not done after ${LONGEST_MS / 1_000} s`)), LONGEST_MS)
    run.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
