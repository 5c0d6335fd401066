/**
 * A store of an earlier test file in this process may still warn that its server is away. Tests make limiters while servers
 * of other tests listen, and use many of them once.
 */
const OF_OTHER_TESTS = /_UNAVAILABLE$|^SLUICE_MADE_IN_HANDLER$/

/** The code and the message of each process warning of Sluice that `run` leads to, except those that other tests lead to. */
export async function warningsOf(run: () => Promise<unknown>): Promise<[code: string, message: string][]> {
  const warnings: [string, string][] = []
  const note = (warning: Error & { code?: string }) => {
    const { name, code = '', message } = warning
    if (name === 'SluiceWarning' && !OF_OTHER_TESTS.test(code)) warnings.push([code, message])
  }
  process.on('warning', note)
  try {
    await run()
    // A warning is emitted in the next tick.
    await new Promise((resolve) => setImmediate(resolve))
    return warnings
  } finally {
    process.off('warning', note)
  }
}
